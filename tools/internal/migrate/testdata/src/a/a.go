package a

import _ "github.com/cenkalti/backoff/v4" // want "imports github.com/cenkalti/backoff/v4"
