// The interface of a proxy that runs in this process.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { ListenAddress } from '../admin/http-listener.ts'
import type { SourceEditor } from '../admin/source-editing.ts'
import type { ApplyResult } from '../config/apply-result.ts'
import type { OfferedCatalog } from '../llm/cost/offered-catalog.ts'
import type { Logger } from '../log/logger.ts'
import type { TroubleListener } from '../mesh/mesh-member.ts'

export interface ProxyPorts {
  readonly admin: number
  readonly stats: number
  readonly readiness: number
}

export interface RunningProxy {
  /**
   * Puts a configuration in force on all workers, or on none: then the last good one stays and the problem has the
   * reason. Calls are worked off one after the other. `reported`: warnings that the user has read with their places in
   * a file; the log does not repeat them.
   */
  apply(config: RenderedConfig, secrets: RenderedSecrets, reported?: readonly string[]): Promise<ApplyResult>
  /** A newer configuration follows: stops preparing the present one, which then has the problem `Superseded`. */
  supersede(): void
  readonly ports: ProxyPorts
  /** After which an MCP session that no client uses ends. */
  readonly mcpSessionTtlMs: number
  /** Where the admin server listens, as in the settings, with its port. */
  readonly adminAddress: ListenAddress
  /** For parts of the main thread that are not the proxy itself, such as the source of configurations. */
  logger(module: string): Logger
  /** Graceful; with `isForced` at once, also when a graceful stop is under way. Resolves as `closed` does. */
  stop(options?: { readonly isForced: boolean }): Promise<void>
  /** Resolves when everything is closed and all log lines are written, whoever asked for it (`/quitquitquit` too). */
  readonly closed: Promise<void>
  /** Calls that start from now on are priced by this catalog. */
  setModelCatalog(offered: OfferedCatalog): void
  /** The admin server lets pages edit by it, if UI_EDITS allows that. */
  useEditor(editor: SourceEditor): void
  /** Ends a period of TLS session tickets, as each hour does. */
  rotateTickets(): void
  /** Reports to the code that fetches key sets that a token named a key which the set of this source lacks. */
  onUnknownKey(listener: (source: string) => void): void
  /** Reports why the proxy has no current certificate of its mesh, for the status of its Gateway. */
  onMeshTrouble(listener: TroubleListener): void
}
