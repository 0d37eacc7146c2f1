// The question of the route tester for the admin server, and its answer.
import type { components } from '#api/admin/types.gen.ts'
import { ApiError, ask } from './api.ts'

export type RouteExplanation = components['schemas']['RouteExplanation']

export interface TestedRequest {
  readonly method: string
  readonly url: string
  /** Empty: that of the URL. */
  readonly port: string
  /** One `name: value` a line. */
  readonly headers: string
}

/** @throws {ApiError} A part of the request is not valid. */
export async function askRoute(request: TestedRequest, signal: AbortSignal): Promise<RouteExplanation> {
  const { method, url, port, headers } = request
  const query = new URLSearchParams({ url, method })
  if (port !== '') query.set('port', port)
  for (const line of headers.split('\n')) if (line.trim() !== '') query.append('header', line.trim())
  const answer: unknown = await (await ask(`debug/route?${query.toString()}`, { signal })).json()
  if (typeof answer !== 'object' || answer === null) throw new ApiError('the proxy sent another answer than expected')
  return answer as RouteExplanation // api/admin/openapi.yaml
}
