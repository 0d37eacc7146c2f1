// Failures of the gateway in the format of the client of a model: official SDKs show their message and type.
import type { RouteType } from '#api/ir/types.gen.ts'
import { MODEL_ROUTES } from '#api/llm/formats.ts'
import type { FailureBody } from '../exchange/slots.ts'
import { FORMATS } from './formats/table.ts'
import { HANDLING, routeTypeMatcher } from './route-type.ts'

/** For an LLM backend. Requests that it forwards without a format get text. */
export function failureBodyOf(routes: Readonly<Record<string, RouteType>> | undefined): FailureBody {
  const typeOf = routeTypeMatcher(routes)
  return (failure, { path }) => {
    const handling = HANDLING[typeOf(path)]
    return typeof handling === 'string' ? undefined : JSON.stringify(handling.failure(failure))
  }
}

/** By the path alone: other paths than those of model APIs get text. */
export const pathFailureBody = failureBodyOf(MODEL_ROUTES)

/** For the models of a listener: other paths, such as the list of models, have the format of OpenAI. */
export const modelsFailureBody: FailureBody = (failure, request) =>
  pathFailureBody(failure, request) ?? JSON.stringify(FORMATS.Completions.failure(failure))

/** For several backends before one is selected: text if their formats differ. */
export function commonFailureBody(bodies: readonly (FailureBody | undefined)[]): FailureBody | undefined {
  const [first] = bodies
  if (first === undefined) return undefined
  return (failure, request) => {
    const body = first(failure, request)
    return bodies.every((other) => other?.(failure, request) === body) ? body : undefined
  }
}
