// Command hello is what the other programs beside it are compared with.
package main

import "fmt"

func main() {
	fmt.Println("hello, world")
}
