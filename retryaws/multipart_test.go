package retryaws_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

const partSize = 8 << 20 // 5 MiB or more; S3 takes 10,000 parts

// finishUpload sends the parts that S3 does not have yet, and completes the upload.
func finishUpload(ctx context.Context, client *s3.Client, bucket, key, id *string, src io.ReaderAt, size int64) error {
	has := map[int32]s3types.Part{}
	list := s3.NewListPartsPaginator(client, &s3.ListPartsInput{Bucket: bucket, Key: key, UploadId: id})
	for list.HasMorePages() {
		page, err := list.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, part := range page.Parts {
			has[*part.PartNumber] = part
		}
	}
	var parts []s3types.CompletedPart
	for offset := int64(0); offset < size; offset += partSize {
		number, length := int32(offset/partSize)+1, min(partSize, size-offset)
		part := s3types.CompletedPart{PartNumber: &number, ETag: has[number].ETag, ChecksumCRC32: has[number].ChecksumCRC32}
		if aws.ToInt64(has[number].Size) != length {
			sent, err := client.UploadPart(ctx, &s3.UploadPartInput{
				Bucket: bucket, Key: key, UploadId: id, PartNumber: &number,
				Body: io.NewSectionReader(src, offset, length), ChecksumAlgorithm: s3types.ChecksumAlgorithmCrc32,
			})
			if err != nil {
				return err
			}
			part.ETag, part.ChecksumCRC32 = sent.ETag, sent.ChecksumCRC32
		}
		parts = append(parts, part)
	}
	_, err := client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: bucket, Key: key, UploadId: id, MultipartUpload: &s3types.CompletedMultipartUpload{Parts: parts},
	})
	return err
}

// TestFinishUpload: an upload that has failed goes on with the parts that are missing.
func TestFinishUpload(t *testing.T) {
	onMoto(t, func(t *testing.T, url string) {
		p := newProxy(t, url)
		client := newSafeClients(p.client(), p.URL, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: retry.NoRetry}).s3
		bucket, key := uniqueName(), aws.String("k")
		_, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket})
		require.NoError(t, err)
		upload, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{
			Bucket: bucket, Key: key, ChecksumAlgorithm: s3types.ChecksumAlgorithmCrc32,
		})
		require.NoError(t, err)
		data := make([]byte, 3*partSize+1000)
		random := rand.NewChaCha8([32]byte{})
		_, err = random.Read(data)
		require.NoError(t, err)
		finish := func(faults ...fault) error {
			p.expect(faults...)
			return finishUpload(t.Context(), client, bucket, key, upload.UploadId, bytes.NewReader(data), int64(len(data)))
		}
		forward := func(p *proxy, w http.ResponseWriter, r *http.Request) { p.forward.ServeHTTP(w, r) }
		require.Error(t, finish(forward, forward, lose))
		assert.Equal(t, 3, p.count(), "list and two parts, of which the second arrives, too")
		require.Error(t, finish(forward, forward, reset))
		assert.Equal(t, 3, p.count(), "list and two parts")
		require.Error(t, finish(forward, forward, reset))
		assert.Equal(t, 3, p.count(), "list, the last part and the end")
		require.NoError(t, finish())
		assert.Equal(t, 2, p.count(), "list and the end")

		out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
		require.NoError(t, err)
		got, err := io.ReadAll(out.Body)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(data, got), "%d bytes", len(got))

		assert.ErrorContains(t, finish(), "NoSuchUpload")
	})
}
