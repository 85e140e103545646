package retryconfig

import (
	"fmt"
	"reflect"

	"github.com/gobackoff/retry"
)

// maxSize is the length of the longest text of a policy, in bytes, and the size of the largest
// mapping. It has room for a schedule of 8,000 delays.
const maxSize = 64 << 10

// tooLong describes a text that is too long, or returns "".
func tooLong(size int) string {
	if size <= maxSize {
		return ""
	}
	return fmt.Sprintf("it has %d bytes; a policy has at most %d", size, maxSize)
}

// checkSize returns an error if a decoded value is too large. The size of a value is that of the
// texts in it, and one for each value.
func checkSize(value any) error {
	left := maxSize
	spend(&left, value)
	if left < 0 {
		return fmt.Errorf("%w retry policy: the mapping is too large; a policy has at most %d bytes", retry.ErrInvalid, maxSize)
	}
	return nil
}

// spend takes the size of a value from left, until that is below 0.
func spend(left *int, value any) {
	*left--
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			*left -= len(key)
			if *left < 0 {
				return
			}
			spend(left, inner)
		}
	case []any:
		for _, inner := range v {
			if *left < 0 {
				return
			}
			spend(left, inner)
		}
	default:
		text := reflect.ValueOf(value)
		if text.Kind() == reflect.String {
			*left -= text.Len()
		}
	}
}
