// What the admin server asks the running threads: connections, requests in progress, routes, profiles.
import type { ServerResponse } from 'node:http'
import type { components } from '#api/admin/types.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { Inspectable } from '../trace/hub.ts'
import type { EndpointBuffer } from '../backend/endpoint-store.ts'
import { EndpointHistory } from './endpoint-history.ts'
import { endpointStates, labelsOf } from './endpoint-states.ts'
import { askConnections, connectionsOf } from './live-connections.ts'
import { askSessions, mcpSessions } from './mcp-sessions.ts'
import { Profiles } from './pprof.ts'
import { answerRoute } from './route-tester.ts'
import { taskReport } from './tasks.ts'

type Schemas = components['schemas']

export interface LiveParts {
  /** Those that serve. */
  readonly workers: () => readonly Inspectable[]
  /** In force; undefined: the proxy has loaded none yet. */
  readonly config: () => RenderedConfig | undefined
  /** Of the configuration in force. */
  readonly endpoints: () => EndpointBuffer | undefined
}

const EMPTY: RenderedConfig = emptyConfig()

export class LiveView {
  readonly profiles: Profiles
  readonly #parts: LiveParts
  readonly #history: EndpointHistory

  constructor(parts: LiveParts) {
    this.#parts = parts
    this.profiles = new Profiles(parts.workers)
    this.#history = new EndpointHistory({ memory: parts.endpoints })
  }

  close(): void {
    this.#history.close()
  }

  route(query: URLSearchParams, response: ServerResponse): Promise<void> {
    return answerRoute(this.#parts.workers(), query, response)
  }

  tasks(): Promise<Schemas['Tasks']> {
    return taskReport(this.#parts.workers())
  }

  async connections(): Promise<Schemas['Connections']> {
    return connectionsOf(this.#config, await askConnections(this.#parts.workers(), []))
  }

  async endpoints(): Promise<Schemas['EndpointStates']> {
    // So that the current minute is up to date.
    this.#history.sample()
    const histories = this.#history.shown()
    const serving = this.#parts.workers()
    const workers = await askConnections(serving, labelsOf(histories))
    return endpointStates({ config: this.#config, histories, workers, workersServing: serving.length })
  }

  async mcpSessions(): Promise<Schemas['McpSessions']> {
    return mcpSessions(await askSessions(this.#parts.workers()))
  }

  get #config(): RenderedConfig {
    return this.#parts.config() ?? EMPTY
  }
}
