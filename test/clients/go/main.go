// The program of the client matrix for aztables. What it is told and prints is in ../README.md.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const module = "github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

// ctx is of every call: the runner ends a program that takes too long.
var ctx = context.Background()

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = failureOf(failed)
		}
	}()
	s := newSession()
	told := func(command string, arguments int) bool { return len(args) == 1+arguments && args[0] == command }
	switch {
	case told("scenarios", 0):
		printLine(header())
		runScenarios(s)
	case told("write-values", 2):
		writeValues(s, args[1], args[2])
	case told("read-values", 2):
		readValues(s, args[1], args[2])
	case told("page-first", 1):
		pageFirst(s, args[1])
	case told("page-rest", 2):
		pageRest(s, args[1], args[2])
	default:
		return fmt.Errorf("not a command: %q", args)
	}
	return nil
}

// session is what the runner gives, and the client that most scenarios use.
type session struct {
	url, account, key, connectionString, sasURL, flakyURL, prefix, values string

	credential *aztables.SharedKeyCredential
	service    *aztables.ServiceClient
	// gap is set by a scenario for what its client lacks, and nothing else.
	gap string
}

func newSession() *session {
	s := &session{
		url:              os.Getenv("TABLES_URL"),
		account:          os.Getenv("TABLES_ACCOUNT"),
		key:              os.Getenv("TABLES_KEY"),
		connectionString: os.Getenv("TABLES_CONNECTION_STRING"),
		sasURL:           os.Getenv("TABLES_SAS_URL"),
		flakyURL:         os.Getenv("TABLES_FLAKY_URL"),
		prefix:           os.Getenv("TABLES_PREFIX"),
		values:           os.Getenv("TABLES_VALUES"),
	}
	s.credential = must(aztables.NewSharedKeyCredential(s.account, s.key))
	s.service = s.serviceAt(s.url, nil)
	return s
}

func (s *session) serviceAt(url string, options *azcore.ClientOptions) *aztables.ServiceClient {
	if options == nil {
		options = &azcore.ClientOptions{}
	}
	return must(aztables.NewServiceClientWithSharedKey(url, s.credential, &aztables.ClientOptions{ClientOptions: *options}))
}

// newTable creates a table of this program's own.
func (s *session) newTable(name string) *aztables.Client {
	must(s.service.CreateTable(ctx, s.prefix+name, nil))
	return s.service.NewClient(s.prefix + name)
}

func header() any {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				version = strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return struct {
		Client  string `json:"client"`
		Version string `json:"version"`
		Runtime string `json:"runtime"`
	}{"aztables", version, "Go " + strings.TrimPrefix(runtime.Version(), "go")}
}

// printLine writes one line of the contract.
func printLine(line any) {
	check(json.NewEncoder(os.Stdout).Encode(line))
}
