// Command hello is the program that the other programs are compared with.
package main

import "fmt"

func main() {
	fmt.Println("hello, world")
}
