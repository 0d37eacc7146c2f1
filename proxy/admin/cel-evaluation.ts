// `/debug/cel`: evaluates an expression with variables of the caller, such as those of a captured request. Of the proxy
// it reads only the functions that the configuration declares; it takes as many steps as the expressions of one
// request may.
import type { ServerResponse } from 'node:http'
import type { components } from '#api/admin/types.gen.ts'
import { compileIn, readsOf, SOURCE_LENGTH_MAX } from '#api/cel/compile.ts'
import { typeName } from '#api/cel/engine/types.ts'
import { CelError } from '#api/cel/expression.ts'
import { nameProblems } from '#api/cel/names.ts'
import { environmentWith } from '#api/cel/user-functions.ts'
import { isRecord, type JsonRecord, parseJson } from '#api/json.ts'
import { givenVariables } from '../cel/given-variables.ts'
import { shown } from '../trace/snapshot.ts'
import { bodyText, sendJson, sendText } from './http-listener.ts'

type Result = components['schemas']['EvaluationResult']
type Problem = components['schemas']['ExpressionProblem']

const BODY_BYTES_MAX = 1024 * 1024

/** `functions`: that the configuration in force declares. */
export async function answerEvaluation(response: ServerResponse, functions: string | undefined): Promise<void> {
  const text = await bodyText(response.req, BODY_BYTES_MAX)
  if (text === undefined) return sendText(response, 413, `the body must not be longer than ${BODY_BYTES_MAX} bytes\n`)
  const body = parseJson(text)
  if (!isRecord(body)) return sendText(response, 400, 'the body must be a JSON object\n')
  const { expression, variables = {} } = body
  if (typeof expression !== 'string' || expression.length > SOURCE_LENGTH_MAX) {
    return sendText(response, 400, `expression: must be a text of at most ${SOURCE_LENGTH_MAX} characters\n`)
  }
  if (!isRecord(variables)) return sendText(response, 400, 'variables: must be a JSON object\n')
  return sendJson(response, evaluationOf(expression, variables, functions))
}

function evaluationOf(source: string, given: JsonRecord, functions: string | undefined): Result {
  const environment = environmentWith(functions)
  const compilation = compileIn(environment, source)
  if ('problem' in compilation) return { problem: placeOf(compilation.problem), names: [] }
  const found = readsOf(source, environment)
  const names = 'problem' in found ? [] : nameProblems(source, found, undefined).map(placeOf)
  try {
    const value = compilation.expression.evaluate(givenVariables(given))
    const data = shown(value)
    return data === undefined
      ? { error: 'the value has no form in JSON', names }
      : { value: data, type: typeName(value), names }
  } catch (error) {
    if (error instanceof CelError) return { error: error.message, names }
    throw error
  }
}

function placeOf({ message, line, column }: Problem): Problem {
  return { message, line, column }
}
