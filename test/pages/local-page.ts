// A page whose gw.yaml runs on this machine, with hack/model.ts in place of providers of models.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type GwProcess, ROOT } from '#test/cli/gw.ts'
import type { Step } from '#test/console-steps.ts'
import { freePort } from '#test/ports.ts'
import { readPage } from './page-commands.ts'
import { layCommand, outputsOf, Ports, startInShell } from './shell.ts'
import { commandsFor } from './tested-pages.ts'

export interface LocalPageOptions {
  readonly test: string
  readonly page: string
  /** The content of gw.yaml; a new port for models and for its clients is set here. */
  readonly file: string
  readonly keys: Readonly<Record<string, string>>
}

export class LocalPage {
  readonly gateway: GwProcess
  readonly #server: ChildProcess
  readonly #folder: string
  readonly #ports: Ports
  readonly #adminFlag: string

  private constructor(parts: {
    gateway: GwProcess
    server: ChildProcess
    folder: string
    ports: Ports
    admin: number
  }) {
    this.gateway = parts.gateway
    this.#server = parts.server
    this.#folder = parts.folder
    this.#ports = parts.ports
    this.#adminFlag = ` --admin-addr 127.0.0.1:${parts.admin}`
  }

  static async start({ test, page, file, keys }: LocalPageOptions): Promise<LocalPage> {
    const plain = plainCommands(test, page)
    const modelPort = await freePort()
    const env = { ...process.env, MODEL_PORT: String(modelPort) }
    const command = plain.find((one) => one.includes('hack/model.ts')) ?? ''
    const server = spawn('bash', ['-c', `exec ${command}`], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
    await once(server.stdout, 'data')
    const ports = new Ports(new Map([[4000, await freePort()]]))
    const folder = mkdtempSync(join(tmpdir(), 'gw-local-page-'))
    const own = file.replaceAll('18082', String(modelPort)).replace('llm:\n', `llm:\n  port: ${ports.of(4000)}\n`)
    writeFileSync(join(folder, 'gw.yaml'), own)
    layCommand(folder)
    const admin = await freePort()
    const starts = plain.filter((one) => !one.includes('hack/'))
    const gateway = startInShell(starts, folder, { ...keys, ADMIN_ADDR: `127.0.0.1:${admin}` })
    await gateway.says('gw: serving')
    return new LocalPage({ gateway, server, folder, ports, admin })
  }

  /** What the steps print. */
  outputs(steps: readonly Step[]): Promise<string[]> {
    const change = (command: string): string => command.replace('--local', `--local${this.#adminFlag}`)
    return outputsOf(steps, { folder: this.#folder, ports: this.#ports, change })
  }

  async stop(): Promise<void> {
    await this.gateway.stop()
    const ended = once(this.#server, 'exit')
    this.#server.kill()
    await ended
    rmSync(this.#folder, { recursive: true })
  }
}

/** The commands that start something. */
export function plainCommands(test: string, page: string): string[] {
  return commandsFor(test, page).flatMap(({ command, isShown }) => (isShown ? [] : [command]))
}

export function yamlBlocks(page: string): string[] {
  return [...readPage(page).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text)
}
