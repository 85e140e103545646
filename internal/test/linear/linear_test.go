package linear

import (
	"testing"
	"time"
)

// TestCheckSeesASquare: a reader that begins again at each byte takes longer than Check tolerates,
// and one that reads each byte once does not.
func TestCheckSeesASquare(t *testing.T) {
	if resolution > time.Second {
		t.Skip("the system does not tell the time of the processor")
	}
	const size = 20_000
	reader := func(again bool) func(size int) func() {
		return func(size int) func() {
			text := make([]byte, size)
			return func() {
				sum := 0
				for i := range text {
					rest := text[i : i+1]
					if again {
						rest = text[i:]
					}
					for _, b := range rest {
						sum += int(b)
					}
				}
				if sum != 0 {
					t.Error("the text is not zero")
				}
			}
		}
	}
	Check(t, size, reader(false))
	small, large := reader(true)(size/parts), reader(true)(size)
	short := processorTime(func() {
		for range parts {
			small()
		}
	})
	if long := processorTime(large); long <= tolerated*max(short, resolution) {
		t.Errorf("a square takes %v, and its parts take %v", long, short)
	}
}
