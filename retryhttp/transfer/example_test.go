package transfer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/transfer"
)

// A request that stalls ends, and the transfer goes on in another one.
var client = &http.Client{Transport: &retryhttp.Transport{
	StallTimeout:     30 * time.Second,
	FirstByteTimeout: time.Minute,
}}

// patient goes on for ten minutes after the last bytes have arrived.
var patient = retry.Policy{MaxElapsed: 10 * time.Minute, Budget: retry.NoBudget{}}

func ExampleUpload() {
	server := new(tusServer)
	s := httptest.NewServer(server)
	defer s.Close()
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "file.txt")
	err = os.WriteFile(name, []byte("the content of a file"), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = upload(context.Background(), s.URL, name)
	fmt.Println(server.got.String(), err)
	// Output: the content of a file <nil>
}

// upload sends a file to a tus server.
func upload(ctx context.Context, server, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	url, err := begin(ctx, server, info.Size())
	if err != nil {
		return err
	}
	up := &transfer.Upload{Client: client, Protocol: transfer.Tus{}, URL: url, Policy: patient}
	resp, err := up.Send(ctx, file, info.Size())
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// begin asks a tus server for a new upload, and returns its URL.
func begin(ctx context.Context, server string, size int64) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Tus-Resumable", "1.0.0")
	req.Header.Set("Upload-Length", strconv.FormatInt(size, 10))
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if err := retryhttp.CheckStatus(resp); err != nil {
		return "", err
	}
	location, err := resp.Location()
	if err != nil {
		return "", err
	}
	return location.String(), nil
}

// tusServer is a server of one upload.
type tusServer struct{ got bytes.Buffer }

func (s *tusServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w.Header().Set("Location", "/upload")
		w.WriteHeader(http.StatusCreated)
		return
	}
	_, _ = io.Copy(&s.got, r.Body)
	w.Header().Set("Upload-Offset", strconv.Itoa(s.got.Len()))
	w.WriteHeader(http.StatusNoContent)
}

func ExampleDownload_File() {
	content := []byte("a model")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(w, r, "model.bin", time.Time{}, bytes.NewReader(content))
	}))
	defer s.Close()
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	name, sum := filepath.Join(folder, "model.bin"), fmt.Sprintf("%x", sha256.Sum256(content))
	err = download(context.Background(), s.URL, name, sum)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := os.ReadFile(name)
	fmt.Printf("%s %v\n", got, err)
	// Output: a model <nil>
}

// download writes the resource at a URL to a file. sum is the SHA-256 of its content, in
// hexadecimal digits.
func download(ctx context.Context, url, name, sum string) error {
	down := &transfer.Download{Client: client, URL: url, Policy: patient, Verify: transfer.SHA256(sum)}
	return down.File(ctx, name)
}
