// gw mcp pins: the digests of the tools of a server, as the field `toolPinning` of its backend has them.
import { Document, isScalar } from 'yaml'
import { toolDigest } from '#api/mcp/tool-digest.ts'
import { printError, printLine, reasonText } from '../output.ts'
import { HttpClient, Unreachable } from './http.ts'
import { mcpUrl } from './check.ts'
import { listedTools } from './session.ts'

export interface PinsFlags {
  readonly target: string
  readonly token?: string
  /** Seconds. */
  readonly timeout: number
}

const FAILED = 1
const NOT_REACHED = 2

/** Resolves to the exit code. */
export async function pinsCommand(text: string, { target, token, timeout }: PinsFlags): Promise<number> {
  const url = mcpUrl(text)
  if (url === undefined) return FAILED
  const http = new HttpClient(timeout * 1000)
  try {
    const tools = await listedTools({ http, url, token: token ?? process.env['GW_MCP_TOKEN'] })
    if (!Array.isArray(tools)) {
      printError(`${tools.detail}; ${tools.cure}`)
      return FAILED
    }
    const pins = tools.map((tool) => ({ target, name: String(tool['name']), digest: toolDigest(tool) }))
    const printed = new Document({ toolPinning: { mode: 'Refuse', tools: pins } })
    const mode = printed.getIn(['toolPinning', 'mode'], true)
    if (isScalar(mode)) mode.comment = ' refuse in a standalone file'
    printLine(printed.toString().trimEnd())
    return 0
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    printError(`cannot reach the MCP server: ${reasonText(error)}; check the URL, and that the server runs`)
    return NOT_REACHED
  }
}
