// What is the value of this expression? Evaluates CEL with the variables of a captured request, or with typed JSON.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { components } from '#api/admin/types.gen.ts'
import { ask, problemOf, type TraceEvent, watchRequest } from '../api.ts'
import { TextArea } from '../parts/fields.tsx'

type Result = components['schemas']['EvaluationResult']
type Problem = components['schemas']['ExpressionProblem']

const SAMPLE = {
  request: {
    method: 'GET',
    uri: 'http://shop.example/api/orders?page=2',
    path: '/api/orders',
    host: 'shop.example',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: { 'x-role': 'admin', 'user-agent': 'curl/8.5.0' },
    startTime: '2026-11-24T12:00:00.000Z',
  },
  source: { address: '10.0.0.7', port: 40_112 },
  jwt: { sub: 'alice', groups: ['core'] },
}
const NAMES_MAX = 8
const PATH_BEFORE_CURSOR = /([a-zA-Z_]\w*(?:\.\w*)*)$/

export function CelPlayground() {
  const [expression, setExpression] = useState('request.headers["x-role"] == "admin"')
  const [variables, setVariables] = useState(JSON.stringify(SAMPLE, undefined, 2))
  const [result, setResult] = useState<Result | undefined>(undefined)
  const [status, setStatus] = useState('')
  const { isWaiting, capture } = useCapture(setVariables, setStatus)
  const evaluate = async (): Promise<void> => {
    setResult(undefined)
    try {
      const body = { expression, variables: JSON.parse(variables) as unknown } // checked by the admin server
      const answer = await ask('debug/cel', { signal: new AbortController().signal, body })
      setResult((await answer.json()) as Result) // api/admin/openapi.yaml
      setStatus('')
    } catch (error) {
      setStatus(error instanceof SyntaxError ? `variables: ${error.message}` : problemOf(error))
    }
  }
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void evaluate()
        }}
      >
        <TextArea label="Expression" rows={3} value={expression} onValue={setExpression} />
        <Names expression={expression} variables={variables} onExpression={setExpression} />
        <TextArea label="Variables, as JSON" rows={12} value={variables} onValue={setVariables} />
        <button class="main" type="submit">
          Evaluate
        </button>
        <button type="button" onClick={capture}>
          {isWaiting ? 'Stop' : 'Capture the next request'}
        </button>
        <p role="status">{status}</p>
      </form>
      {result !== undefined && <Outcome expression={expression} result={result} />}
    </>
  )
}

/** Names that complete the last word of the expression, from the variables. */
function Names({
  expression,
  variables,
  onExpression,
}: {
  readonly expression: string
  readonly variables: string
  readonly onExpression: (expression: string) => void
}) {
  const path = PATH_BEFORE_CURSOR.exec(expression)?.[1]?.split('.')
  const last = path?.at(-1)
  if (path === undefined || last === undefined) return null
  const names = membersAt(variables, path.slice(0, -1)).filter((name) => name.startsWith(last) && name !== last)
  if (names.length === 0) return null
  return (
    <div class="bar wide" role="group" aria-label="Complete">
      {names.slice(0, NAMES_MAX).map((name) => (
        <button
          key={name}
          type="button"
          class="mono"
          onClick={() => onExpression(`${expression.slice(0, expression.length - last.length)}${name}`)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}

function membersAt(variables: string, path: readonly string[]): string[] {
  let value: unknown
  try {
    value = JSON.parse(variables)
  } catch {
    // The user is still typing; the status reports it when the expression is evaluated.
    return []
  }
  for (const name of path) value = Object.entries(value ?? {}).find(([key]) => key === name)?.[1]
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isMap ? Object.keys(value ?? {}).filter((name) => /^[a-zA-Z_]\w*$/.test(name)) : []
}

function Outcome({ expression, result }: { readonly expression: string; readonly result: Result }) {
  const { value, type, error, problem, names } = result
  return (
    <section aria-label="Result">
      <h2 class={error === undefined && problem === undefined ? undefined : 'bad'}>
        {problem !== undefined ? 'The expression is not valid' : error === undefined ? `Value: ${type ?? ''}` : 'Error'}
      </h2>
      {problem !== undefined && <Place expression={expression} problem={problem} />}
      {error !== undefined && <p>{error}</p>}
      {error === undefined && problem === undefined && (
        <pre tabIndex={0} aria-label="Value">
          {JSON.stringify(value, undefined, 2)}
        </pre>
      )}
      {names.map((name) => (
        <Place key={name.message} expression={expression} problem={name} />
      ))}
    </section>
  )
}

/** The line of a mistake, with a mark below its character. */
function Place({ expression, problem: { message, line, column } }: { expression: string; problem: Problem }) {
  const text = expression.split('\n')[line - 1] ?? ''
  return (
    <>
      <p>
        {message} (line {line}, column {column})
      </p>
      <pre class="place" tabIndex={0} aria-label="Place of the mistake">
        {`${text}\n${' '.repeat(column - 1)}^`}
      </pre>
    </>
  )
}

/** The variables of the next request that the gateway gets, from its trace. */
function useCapture(onVariables: (text: string) => void, onStatus: (text: string) => void) {
  const [isWaiting, setWaiting] = useState(false)
  const stop = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  const capture = (): void => {
    if (stop.current !== undefined) {
      stop.current.abort()
      return
    }
    const ended = new AbortController()
    stop.current = ended
    setWaiting(true)
    const events: TraceEvent[] = []
    const onReady = (): void => onStatus('Waiting for a request: send one through the gateway.')
    watchRequest('', ended.signal, { onEvent: (event) => events.push(event), onReady })
      .then(
        () => {
          onVariables(JSON.stringify(stateOf(events), undefined, 2))
          onStatus('Captured. Bodies are not part of it, and credentials are redacted.')
        },
        (error: unknown) => onStatus(ended.signal.aborted ? '' : problemOf(error)),
      )
      .finally(() => {
        stop.current = undefined
        setWaiting(false)
      })
  }
  return { isWaiting, capture }
}

/** The request as it arrived, with the variables that policies added, and the response. */
function stateOf(events: readonly TraceEvent[]): object {
  const own = events.filter(({ scope = [] }) => scope.length === 0)
  const states = own.flatMap(({ message: { requestState } }) => (requestState === undefined ? [] : [requestState]))
  return { ...Object.assign({}, ...states), ...states[0] }
}
