// `/debug/mcp_access`: which tools of an MCP backend an identity may call. The caller gives the identity as variables
// of expressions; nothing is sent.
import type { ServerResponse } from 'node:http'
import type { components } from '#api/admin/types.gen.ts'
import { isRecord, parseJson } from '#api/json.ts'
import { bodyText, sendJson, sendText } from './http-listener.ts'

type Schemas = components['schemas']
type Question = Schemas['McpAccessQuestion']
interface Problem {
  readonly problem: string
}

export type McpAccessOf = (question: Question) => Promise<Schemas['McpAccess'] | Problem>

const BODY_BYTES_MAX = 256 * 1024
const TOOLS_MAX = 1000
const NAME_LENGTH_MAX = 512

export async function answerMcpAccess(response: ServerResponse, accessOf: McpAccessOf): Promise<void> {
  const text = await bodyText(response.req, BODY_BYTES_MAX)
  if (text === undefined) return sendText(response, 413, `the body must not be longer than ${BODY_BYTES_MAX} bytes\n`)
  const question = questionOf(parseJson(text))
  const answer = 'problem' in question ? question : await accessOf(question)
  if ('problem' in answer) sendText(response, 400, `${answer.problem}\n`)
  else sendJson(response, answer)
}

function questionOf(body: unknown): Question | Problem {
  if (!isRecord(body)) return { problem: 'the body must be a JSON object' }
  const { route, variables = {} } = body
  const backend = backendIn(body['backend'])
  if (backend === undefined) return { problem: 'backend: must have a namespace and a name' }
  if (route !== undefined && typeof route !== 'string') return { problem: 'route: must be the key of a rule' }
  if (!isRecord(variables)) return { problem: 'variables: must be a JSON object' }
  const tools = toolsIn(body['tools'])
  if (tools === undefined) {
    return { problem: `tools: must be a list of at most ${TOOLS_MAX} objects with server and name` }
  }
  return { backend, ...(route !== undefined && { route }), variables, tools }
}

function backendIn(value: unknown): Question['backend'] | undefined {
  const { namespace, name } = isRecord(value) ? value : {}
  return isName(namespace) && isName(name) ? { namespace, name } : undefined
}

/** undefined: not valid. */
function toolsIn(value: unknown): Question['tools'] | undefined {
  if (!Array.isArray(value) || value.length > TOOLS_MAX) return undefined
  const tools = value.flatMap(toolOf)
  return tools.length === value.length ? tools : undefined
}

function toolOf(value: unknown): Question['tools'] {
  const { server, name } = isRecord(value) ? value : {}
  return isName(server) && isName(name) ? [{ server, name }] : []
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NAME_LENGTH_MAX
}
