package admit_test

import (
	"fmt"
	"net/http"

	"github.com/gobackoff/retry/admit"
)

func ExampleGate_Handler() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "done") })

	var gate admit.Gate
	http.ListenAndServe(":8080", gate.Handler(mux))
}
