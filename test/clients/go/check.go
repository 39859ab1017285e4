package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// A check that fails panics with its error and so ends its scenario; runScenario recovers.

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func equal[T any](what string, want, got T) {
	if !reflect.DeepEqual(want, got) {
		panic(fmt.Errorf("%s is %v instead of %v", what, got, want))
	}
}

// refused checks that the service answered with this status and code.
func refused(err error, status int, code aztables.TableErrorCode) {
	answer := responseError(err)
	equal("status of the refusal", status, answer.StatusCode)
	equal("code of the refusal", string(code), answer.ErrorCode)
}

// groupRefused checks why a group was refused, and for which of its actions. aztables shows both only in the
// text of the answer, whose own status is that of the whole batch.
func groupRefused(err error, index int, code aztables.TableErrorCode) {
	answer := responseError(err)
	equal("status of the batch", 202, answer.StatusCode)
	for _, part := range []string{fmt.Sprintf(`"code":"%s"`, code), fmt.Sprintf(`"value":"%d:`, index)} {
		if !strings.Contains(answer.Error(), part) {
			panic(fmt.Errorf("%s is not in the refusal: %w", part, err))
		}
	}
}

func responseError(err error) *azcore.ResponseError {
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) {
		panic(fmt.Errorf("a refusal of the service was expected, not %w", orNothing(err)))
	}
	return answer
}

func orNothing(err error) error {
	if err == nil {
		return errors.New("success")
	}
	return err
}

func failureOf(recovered any) error {
	if err, ok := recovered.(error); ok {
		return err
	}
	return fmt.Errorf("%v", recovered)
}
