// Package sql tests package retrysql with PostgreSQL, MariaDB and SQLite through several
// drivers, behind a proxy that cuts connections, and package retry with Redis.
package sql
