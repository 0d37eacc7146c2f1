// gw ui: opens the web UI of a proxy or of the controller in the browser, and serves it until a signal.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { RELAY_GATEWAYS, RELAY_TARGET } from '#api/admin/relay-headers.ts'
import { messageOf } from '#proxy/exchange/diagnosis.ts'
import { printError, printLine, reasonText } from '../output.ts'
import type { AdminTransport } from '../portforward/admin-client.ts'
import { type ProxyTransport, targetOf, type TargetFlags } from '../portforward/targets.ts'
import { transportsOf } from '../portforward/transports.ts'
import { GATEWAYS_PATH, GatewayRelays } from './gateway-relays.ts'
import { type Relay, startRelay } from './relay.ts'
import { targetText } from './target-text.ts'

export interface UiFlags extends TargetFlags {
  /** false: `--no-open`. */
  readonly open: boolean
  readonly controller?: boolean
}

interface Served {
  readonly label: string
  readonly relay: Relay
  /** Also what was opened for links of the page. */
  readonly close: () => void
}

/** The program that opens a URL in the browser of the user. */
const OPENER = process.platform === 'darwin' ? 'open' : 'xdg-open'

/** Resolves to the exit code, after a signal. */
export async function uiCommand(resource: string | undefined, flags: UiFlags): Promise<number> {
  try {
    const { label, relay, close } = await (flags.controller === true
      ? controllerServed(resource, flags)
      : proxyServed(resource, flags))
    printLine(`${label}: ${relay.url}`)
    if (flags.open) openInBrowser(relay.url)
    printError('press Ctrl-C to stop')
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    close()
    return 0
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
}

/** Before the browser shows an error: a missing proxy or right is reported here. @throws {Error} for the user */
async function reached(transport: AdminTransport): Promise<void> {
  await transport.token?.()
  try {
    const stream = await transport.open()
    stream.destroy()
  } catch (error) {
    throw new Error(`cannot reach the admin server ${transport.label}: ${messageOf(error)}`, { cause: error })
  }
}

async function proxyServed(resource: string | undefined, flags: UiFlags): Promise<Served> {
  const transport = await proxyOf(resource, flags)
  const relay = await proxyRelay(transport, flags)
  return { label: transport.label, relay, close: () => relay.close() }
}

/** @throws {Error} with a message for the user */
async function proxyOf(resource: string | undefined, flags: TargetFlags): Promise<ProxyTransport> {
  const target = targetOf(flags, resource)
  if ('problem' in target) throw new Error(target.problem)
  const [transport] = await transportsOf(target)
  await reached(transport)
  return transport
}

function proxyRelay(transport: ProxyTransport, flags: TargetFlags): Promise<Relay> {
  return startRelay(transport, { headers: { [RELAY_TARGET]: targetText(transport, flags) } })
}

/** Every replica knows the whole cluster. */
async function controllerServed(resource: string | undefined, flags: UiFlags): Promise<Served> {
  if (resource !== undefined) throw new Error('--controller and the name of a resource cannot be used together')
  const { controllerTransports, CONTROLLER_NAMESPACE } = await import('../controller/transports.ts')
  const [transport] = await controllerTransports({ ...flags, namespace: flags.namespace ?? CONTROLLER_NAMESPACE })
  await reached(transport)
  const relays = new GatewayRelays<ProxyTransport>({
    find: (namespace, name) => proxyOf(`gateway/${name}`, { ...flags, namespace }),
    start: (proxy) => proxyRelay(proxy, flags),
  })
  const relay = await startRelay(transport, {
    headers: { [RELAY_GATEWAYS]: GATEWAYS_PATH },
    elsewhere: (path) => relays.urlFor(path),
  })
  const close = (): void => {
    relay.close()
    relays.close()
  }
  return { label: transport.label, relay, close }
}

function openInBrowser(url: string): void {
  const opener = spawn(OPENER, [url], { stdio: 'ignore', detached: true })
  opener.on('error', (error) => printError(`cannot open a browser (${reasonText(error)}): open the URL`))
  opener.unref()
}
