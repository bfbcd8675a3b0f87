// Command celjudge answers what Kubernetes' own CEL environment makes of an expression: the second judge beside the
// rules' in-process evaluation, without an API server.
//
// Standard input: one JSON object a line, {"expression": "...", "bindings": {"self": ..., "oldSelf": ...}}; a line
// without an expression is about the one before. Standard output: one line for each, {"verdict": true|false} or
// {"error": "..."}.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/google/cel-go/cel"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// The oldest release that is supported; what it knows, all later ones do.
const minor = 30

type answer struct {
	Verdict *bool  `json:"verdict,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	if err := judgeAll(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "celjudge:", err)
		os.Exit(1)
	}
}

func judgeAll(in io.Reader, out io.Writer) error {
	env, err := rulesEnvironment()
	if err != nil {
		return err
	}
	lines, answers := bufio.NewReaderSize(in, 1<<20), bufio.NewWriter(out)
	defer answers.Flush()
	encoder := json.NewEncoder(answers)
	var program cel.Program
	var broken error
	for {
		line, readErr := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			// As the API server decodes: whole numbers are int64.
			var asked map[string]any
			if err := kjson.Unmarshal(line, &asked); err != nil {
				return fmt.Errorf("a line is no question: %w", err)
			}
			if text, ok := asked["expression"].(string); ok {
				program, broken = compile(env, text)
			}
			bindings, _ := asked["bindings"].(map[string]any)
			if err := encoder.Encode(judge(program, broken, bindings)); err != nil {
				return err
			}
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

// rulesEnvironment declares what rules speak of, of any type, as policies without a schema do.
func rulesEnvironment() (*cel.Env, error) {
	base := environment.MustBaseEnvSet(version.MajorMinor(1, minor))
	var variables []cel.EnvOption
	for _, name := range []string{"self", "oldSelf", "object", "oldObject"} {
		variables = append(variables, cel.Variable(name, cel.DynType))
	}
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        variables,
	})
	if err != nil {
		return nil, err
	}
	// New expressions may use what that release knows; stored ones may use what later ones know as well.
	return set.Env(environment.NewExpressions)
}

func compile(env *cel.Env, expression string) (cel.Program, error) {
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("does not compile: %w", issues.Err())
	}
	return env.Program(ast)
}

func judge(program cel.Program, broken error, bindings map[string]any) answer {
	if broken != nil {
		return answer{Error: broken.Error()}
	}
	value, _, err := program.Eval(bindings)
	if err != nil {
		return answer{Error: err.Error()}
	}
	verdict, ok := value.Value().(bool)
	if !ok {
		return answer{Error: fmt.Sprintf("it is neither true nor false but %v", value.Type())}
	}
	return answer{Verdict: &verdict}
}
