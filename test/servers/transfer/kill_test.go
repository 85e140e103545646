//go:build unix

package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp/transfer"
)

// TestMain is the program that is killed if the environment names a file for it.
func TestMain(m *testing.M) {
	name := os.Getenv("TRANSFER_FILE")
	if name == "" {
		code := m.Run()
		azurite.Clean()
		os.Exit(code)
	}
	err := transferFile(name, os.Getenv("TRANSFER_URL"), os.Getenv("TRANSFER_SUM"), os.Getenv("TRANSFER_PROTOCOL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// transferFile uploads the file, or downloads it if there is no protocol.
func transferFile(name, url, sum, protocol string) error {
	policy := retry.Policy{MaxElapsed: time.Minute, Budget: retry.NoBudget{}}
	if protocol == "" {
		return (&transfer.Download{URL: url, Policy: policy, Verify: transfer.SHA256(sum)}).File(context.Background(), name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	up := transfer.Upload{URL: url, Policy: policy, Protocol: map[string]transfer.Protocol{
		"tus": transfer.Tus{}, "draft": transfer.Draft{Version: 6}, "registry": transfer.Registry{Digest: "sha256:" + sum},
	}[protocol]}
	resp, err := up.Send(context.Background(), f, info.Size())
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// A killer kills a process when its server has read or written some number of bytes.
type killer struct {
	mu        sync.Mutex
	process   *os.Process
	left      int // bytes until it is killed
	elsewhere int // parts that the server refused because they began elsewhere
}

// run starts the test program until it is not killed any more. It returns how often it was killed.
func (k *killer) run(t *testing.T, random *rand.Rand, most int, env ...string) (kills int) {
	for {
		var said bytes.Buffer
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), env...)
		cmd.Stderr = &said
		k.mu.Lock()
		err := cmd.Start()
		k.process, k.left = cmd.Process, 1+random.IntN(most)
		k.mu.Unlock()
		require.NoError(t, err)
		err = cmd.Wait()
		if err == nil {
			return kills
		}
		require.Equal(t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), "%v: %s", err, &said)
		kills++
		require.Less(t, kills, 300, "the transfer does not go on")
	}
}

func (k *killer) count(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.left
	k.left -= n
	if before > 0 && k.left <= 0 {
		_ = k.process.Kill()
	}
}

// watch returns a handler whose bytes are counted.
func (k *killer) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &countedBody{r.Body, k}
		h.ServeHTTP(&countedResponse{w, k}, r)
	})
}

type countedBody struct {
	io.ReadCloser
	k *killer
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.k.count(n)
	return n, err
}

type countedResponse struct {
	http.ResponseWriter
	k *killer
}

func (w *countedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter } // tusd sets deadlines

func (w *countedResponse) WriteHeader(status int) {
	if status == http.StatusConflict || status == http.StatusRequestedRangeNotSatisfiable {
		w.k.mu.Lock()
		w.k.elsewhere++
		w.k.mu.Unlock()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countedResponse) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.k.count(n)
	return n, err
}

// large returns a file with more bytes than the buffers of a connection hold.
func large(random *rand.Rand) []byte {
	data := make([]byte, 16<<20)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

// TestKilledUpload: an upload whose process is killed goes on in the next process, and no part
// begins at a wrong offset.
func TestKilledUpload(t *testing.T) {
	tus, draft := newTusd(t)
	for name, s := range map[string]*server{"tus": tus, "draft": draft, "registry": newRegistry(t)} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 1))
			data := large(random)
			file := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(file, data, 0o666))
			k := &killer{}
			handler := s.http.Config.Handler
			s.http.Config.Handler = k.watch(handler)
			defer func() { s.http.Config.Handler = handler }()
			kills := k.run(t, random, len(data)/4, "TRANSFER_FILE="+file, "TRANSFER_PROTOCOL="+name,
				"TRANSFER_URL="+s.begin(t, len(data)), "TRANSFER_SUM="+sum(data))
			t.Log("killed", kills, "times")
			assert.Greater(t, kills, 2)
			assert.Equal(t, digest(data), digest(s.stored(t, data)))
			assert.Zero(t, k.elsewhere)
		})
	}
}

// TestKilledDownload: a download whose process is killed goes on in the next process, from the
// last byte that the file has.
func TestKilledDownload(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	data := large(random)
	file := filepath.Join(t.TempDir(), "file")
	k := &killer{}
	resumed := 0
	s := serve(t, k.watch(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want := ""
		info, err := os.Stat(file + ".part")
		if assert.NoError(t, err) && info.Size() > 0 {
			want = fmt.Sprintf("bytes=%d-", info.Size())
			resumed++
		}
		assert.Equal(t, want, r.Header.Get("Range"))
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(w, r, "file", time.Time{}, bytes.NewReader(data))
	})))
	kills := k.run(t, random, len(data)/4, "TRANSFER_FILE="+file, "TRANSFER_URL="+s.URL, "TRANSFER_SUM="+sum(data))
	t.Log("killed", kills, "times, went on", resumed, "times")
	assert.Greater(t, resumed, 2)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, digest(data), digest(got))
	left, err := filepath.Glob(file + ".*")
	require.NoError(t, err)
	assert.Empty(t, left)
}
