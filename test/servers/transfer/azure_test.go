//go:build unix

package transfer_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/test/testserver"
)

const blockSize = 8 << 20 // Azure takes 50,000 blocks

// finishBlob sends the blocks that Azure does not have yet, and makes them the blob. The query of
// the blob's URL is a signature.
func finishBlob(ctx context.Context, client *http.Client, blob string, src io.ReaderAt, size int64) error {
	text, err := callAzure(ctx, client, http.MethodGet, blob+"&comp=blocklist&blocklisttype=uncommitted", nil)
	var refused *retryhttp.StatusError
	isNew := errors.As(err, &refused) && refused.Response.StatusCode == http.StatusNotFound
	if err != nil && !isNew {
		return err
	}
	var list struct {
		Blocks []struct {
			Name string
			Size int64
		} `xml:"UncommittedBlocks>Block"`
	}
	if !isNew {
		err = xml.Unmarshal(bytes.TrimPrefix(text, []byte("\uFEFF")), &list)
		if err != nil {
			return err
		}
	}
	has := map[string]int64{}
	for _, block := range list.Blocks {
		has[block.Name] = block.Size
	}
	var commit struct {
		XMLName xml.Name `xml:"BlockList"`
		Latest  []string
	}
	for offset := int64(0); offset < size; offset += blockSize {
		id := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%08d", offset/blockSize))
		length := min(blockSize, size-offset)
		if has[id] != length {
			block := make([]byte, length)
			_, err := io.ReadFull(io.NewSectionReader(src, offset, length), block)
			if err != nil {
				return err
			}
			_, err = callAzure(ctx, client, http.MethodPut, blob+"&comp=block&blockid="+url.QueryEscape(id), block)
			if err != nil {
				return err
			}
		}
		commit.Latest = append(commit.Latest, id)
	}
	text, err = xml.Marshal(commit)
	if err != nil {
		return err
	}
	_, err = callAzure(ctx, client, http.MethodPut, blob+"&comp=blocklist", text)
	return err
}

// callAzure returns the content of a response. Its error says what Azure has refused.
func callAzure(ctx context.Context, client *http.Client, method, address string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("x-ms-version", "2020-02-10")
	resp, content, err := retryhttp.Read(client, req)
	if err != nil {
		return nil, err
	}
	return content, retryhttp.CheckStatus(resp)
}

var azurite = &testserver.Program{
	Name:     "Azurite",
	Signal:   "TERM",
	Optional: true,
	SetUp: func(_ *testserver.Program, dir string, port int) ([]string, error) {
		server, err := testserver.Find(cmp.Or(os.Getenv("AZURITE"), "azurite-blob"))
		return []string{server, "--blobPort", strconv.Itoa(port), "--location", dir, "--silent", "--disableTelemetry"}, err
	},
	Ready: testserver.Answers("/devstoreaccount1"),
}

// signature returns the query of URLs for Azurite's only account. Its key is published.
func signature(t *testing.T) string {
	const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	secret, err := base64.StdEncoding.DecodeString(key)
	require.NoError(t, err)
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "devstoreaccount1\nrwc\nb\nco\n\n%s\n\n\n2020-02-10\n", until)
	return url.Values{
		"sp": {"rwc"}, "ss": {"b"}, "srt": {"co"}, "se": {until}, "sv": {"2020-02-10"},
		"sig": {base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	}.Encode()
}

// TestFinishBlob: an upload that has failed goes on with the blocks that are missing.
func TestFinishBlob(t *testing.T) {
	container := fmt.Sprintf("http://%s/devstoreaccount1/c%d", azurite.Start(t), time.Now().UnixNano())
	query := signature(t)
	do(t, http.MethodPut, container+"?restype=container&"+query, "", map[string]string{"x-ms-version": "2020-02-10"})
	blob := container + "/blob?" + query
	data := make([]byte, 3*blockSize+1000)
	random := rand.NewChaCha8([32]byte{})
	_, err := random.Read(data)
	require.NoError(t, err)
	b := &breaking{
		lose: func(n int) bool { return n == 2 },
		cut:  func(n int) int { return map[bool]int{true: 1000, false: -1}[n == 4] },
	}
	client := &http.Client{Transport: &retryhttp.Transport{Base: b, Policy: retry.Policy{MaxAttempts: retry.NoRetry}}}
	finish := func() error { return finishBlob(t.Context(), client, blob, bytes.NewReader(data), int64(len(data))) }
	require.ErrorIs(t, finish(), errCut)
	assert.Equal(t, 3, b.n, "the list and two blocks, of which the second arrives, too")
	require.ErrorIs(t, finish(), errCut)
	assert.Equal(t, 3+2, b.n, "the list and the third block, which is cut")
	require.NoError(t, finish())
	assert.Equal(t, 3+2+4, b.n, "the list, two blocks and the end")
	_, got := do(t, http.MethodGet, blob, "", map[string]string{"x-ms-version": "2020-02-10"})
	assert.Equal(t, digest(data), digest(got))

	_, signed, _ := strings.Cut(blob, "&sig=")
	blob = strings.Replace(blob, signed, "x", 1)
	assert.ErrorContains(t, finish(), "403")
}
