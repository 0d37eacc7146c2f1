// gw mcp check: walks from the 401 of an MCP server to its tools as a client does.
import { dataText, printError, printLine, reasonText } from '../output.ts'
import { HttpClient, Unreachable } from './http.ts'
import { reportText, type Report, type Step } from './report.ts'
import { openSession } from './session.ts'
import { checkSignIn } from './sign-in.ts'

export interface CheckFlags {
  readonly token?: string
  readonly clientId?: string
  readonly scope?: string
  readonly register?: boolean
  /** Seconds. */
  readonly timeout: number
  readonly output: 'text' | 'json'
}

const FAILED = 1
const NOT_REACHED = 2

/** Resolves to the exit code. */
export async function checkCommand(text: string, flags: CheckFlags): Promise<number> {
  const url = mcpUrl(text)
  if (url === undefined) return FAILED
  try {
    const report = await check(url, flags)
    if (flags.output === 'json') process.stdout.write(dataText(report, 'json'))
    else printLine(reportText(report))
    return report.isUsable ? 0 : FAILED
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    printError(`cannot reach the MCP server: ${reasonText(error)}; check the URL, and that the server runs`)
    return NOT_REACHED
  }
}

/** undefined: reported. */
export function mcpUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '') return url
  printError(`${text}: must be a URL with http or https, without a user, such as https://mcp.example.com/mcp`)
  return undefined
}

async function check(url: URL, flags: CheckFlags): Promise<Report> {
  const http = new HttpClient(flags.timeout * 1000)
  const steps: Step[] = []
  const { clientId, scope, register = false } = flags
  const token = flags.token ?? process.env['GW_MCP_TOKEN']
  const credentials =
    clientId === undefined ? undefined : { id: clientId, secret: process.env['GW_MCP_CLIENT_SECRET'] ?? '', scope }
  const access = await checkSignIn({ http, url, steps, token, credentials, isRegistering: register })
  if (access !== undefined) await openSession({ http, url, steps, token: access.token })
  return { url: url.href, isUsable: steps.every(({ status }) => status !== 'fail'), steps }
}
