// `/debug/route`: which rule takes a request, answered by the router of one worker.
import type { ServerResponse } from 'node:http'
import { isAuthority } from '../message/authority.ts'
import { isMethod } from '../http/request-parser.ts'
import { normalisedPath } from '../http/request-path.ts'
import { ask } from '../trace/ask.ts'
import type { Inspectable } from '../trace/hub.ts'
import type { RouteQuestion } from '../trace/messages.ts'
import { portOfUrl } from './page-request.ts'
import { sendJson, sendText } from './http-listener.ts'

const ANSWER_MS_MAX = 5000
const HEADERS_MAX = 64
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/
const PORT_MAX = 65_535

export async function answerRoute(
  workers: readonly Inspectable[],
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const question = questionOf(query)
  if ('problem' in question) {
    sendText(response, 400, `${question.problem}\n`)
    return
  }
  const [worker] = workers
  if (worker === undefined) {
    sendText(response, 503, 'no worker runs; try again\n')
    return
  }
  const answer = await ask(worker, { kind: 'route', question }, { timeoutMs: ANSWER_MS_MAX, signal: undefined })
  if (answer.type === 'route') sendJson(response, answer.explanation)
  else sendText(response, 503, `${answer.type === 'refused' ? answer.message : answer.type}\n`)
}

interface Problem {
  readonly problem: string
}

function questionOf(query: URLSearchParams): RouteQuestion | Problem {
  const target = targetOf(query)
  if ('problem' in target) return target
  const method = query.get('method') ?? 'GET'
  if (!isMethod(method)) return { problem: 'method: must be a method of HTTP' }
  const fields = fieldsOf(query.getAll('header'))
  if ('problem' in fields) return fields
  const host = fields.find(([name]) => name === 'host')?.[1] ?? target.host
  if (!isAuthority(host)) return { problem: 'header: host must be a host name with an optional port' }
  return { ...target, method, host, headers: fields.filter(([name]) => name !== 'host') }
}

function targetOf(query: URLSearchParams): Pick<RouteQuestion, 'port' | 'host' | 'path' | 'query'> | Problem {
  const url = URL.parse(query.get('url') ?? '')
  if (url === null || !/^https?:$/.test(url.protocol) || !isAuthority(url.host)) {
    return { problem: 'url: must be an absolute URL with http or https' }
  }
  const path = normalisedPath(url.pathname)
  if (path === undefined) return { problem: 'url: the proxy rejects this path' }
  const port = Number(query.get('port') ?? portOfUrl(url))
  if (!Number.isInteger(port) || port < 1 || port > PORT_MAX) return { problem: `port: must be 1 to ${PORT_MAX}` }
  return { port, host: url.host, path, query: url.search.slice(1) }
}

/** Names in lower case. */
function fieldsOf(lines: readonly string[]): readonly (readonly [string, string])[] | Problem {
  if (lines.length > HEADERS_MAX) return { problem: `header: at most ${HEADERS_MAX}` }
  const fields: [string, string][] = []
  for (const line of lines) {
    const [, name, value = ''] = HEADER.exec(line) ?? []
    if (name === undefined) return { problem: `header[${fields.length}]: must be \`name: value\`` }
    fields.push([name.toLowerCase(), value.trim()])
  }
  return fields
}
