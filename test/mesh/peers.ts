// The program of test/mesh/peer, which test/mesh/run.sh builds: a certificate authority of Istio, its HBONE server and
// its HBONE client. One at a time.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const PEER = process.env['GW_MESH_PEER'] ?? ''

export interface Peers {
  readonly ca: number
  /** PEM. */
  readonly root: string
  /** PEM; of an authority that issued no certificate in use. */
  readonly otherRoot: string
  readonly tunnels: number
  readonly web: number
  readonly control: number
}

let child: ChildProcess | undefined

export async function startPeers(arguments_: readonly string[]): Promise<Peers> {
  child = spawn(PEER, arguments_, { stdio: ['pipe', 'pipe', 'inherit'] })
  if (child.stdout === null) throw new Error('no output')
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) return JSON.parse(line) as Peers // written by test/mesh/peer/main.go
  }
  throw new Error('the peers ended')
}

export async function stopPeers(): Promise<void> {
  if (child === undefined) return
  child.kill()
  await once(child, 'exit')
}
