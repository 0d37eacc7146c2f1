// gw ui: opens the web UI of a proxy in the browser, and serves it until a signal.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { messageOf } from '#proxy/exchange/diagnosis.ts'
import { printError, printLine, reasonText } from '../output.ts'
import type { AdminTransport } from '../portforward/admin-client.ts'
import { targetOf, type TargetFlags } from '../portforward/targets.ts'
import { transportsOf } from '../portforward/transports.ts'
import { startRelay } from './relay.ts'

export interface UiFlags extends TargetFlags {
  /** false: `--no-open`. */
  readonly open: boolean
  readonly controller?: boolean
}

/** The program that opens a URL in the browser of the user. */
const OPENER = process.platform === 'darwin' ? 'open' : 'xdg-open'

/** Resolves to the exit code, after a signal. */
export async function uiCommand(resource: string | undefined, flags: UiFlags): Promise<number> {
  try {
    const transport = await (flags.controller === true ? controllerOf(resource, flags) : proxyOf(resource, flags))
    // Before the browser shows an error: a missing proxy or right is reported here.
    await transport.token?.()
    await reached(transport)
    const relay = await startRelay(transport)
    printLine(`${transport.label}: ${relay.url}`)
    if (flags.open) openInBrowser(relay.url)
    printError('press Ctrl-C to stop')
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    relay.close()
    return 0
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
}

/** @throws {Error} with a message for the user */
async function reached(transport: AdminTransport): Promise<void> {
  try {
    const stream = await transport.open()
    stream.destroy()
  } catch (error) {
    throw new Error(`cannot reach the admin server ${transport.label}: ${messageOf(error)}`, { cause: error })
  }
}

async function proxyOf(resource: string | undefined, flags: UiFlags): Promise<AdminTransport> {
  const target = targetOf(flags, resource)
  if ('problem' in target) throw new Error(target.problem)
  const [transport] = await transportsOf(target)
  return transport
}

/** Every replica knows the whole cluster. */
async function controllerOf(resource: string | undefined, flags: UiFlags): Promise<AdminTransport> {
  if (resource !== undefined) throw new Error('--controller and the name of a resource cannot be used together')
  const { controllerTransports, CONTROLLER_NAMESPACE } = await import('../controller/transports.ts')
  const [transport] = await controllerTransports({ ...flags, namespace: flags.namespace ?? CONTROLLER_NAMESPACE })
  return transport
}

function openInBrowser(url: string): void {
  const opener = spawn(OPENER, [url], { stdio: 'ignore', detached: true })
  opener.on('error', (error) => printError(`cannot open a browser (${reasonText(error)}): open the URL`))
  opener.unref()
}
