// What the admin server asks the running threads: connections, requests in progress, routes, profiles.
import type { ServerResponse } from 'node:http'
import type { components } from '#api/admin/types.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { Inspectable } from '../trace/hub.ts'
import { askConnections, connectionsOf } from './live-connections.ts'
import { Profiles } from './pprof.ts'
import { answerRoute } from './route-tester.ts'
import { taskReport } from './tasks.ts'

type Schemas = components['schemas']

export interface LiveParts {
  /** Those that serve. */
  readonly workers: () => readonly Inspectable[]
  /** In force; undefined: there is none yet. */
  readonly config: () => RenderedConfig | undefined
}

const EMPTY: RenderedConfig = emptyConfig()

export class LiveView {
  readonly profiles: Profiles
  readonly #parts: LiveParts

  constructor(parts: LiveParts) {
    this.#parts = parts
    this.profiles = new Profiles(parts.workers)
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

  get #config(): RenderedConfig {
    return this.#parts.config() ?? EMPTY
  }
}
