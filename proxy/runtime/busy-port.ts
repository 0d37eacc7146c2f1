// Whether the ports that a configuration opens are free: no other process may use them (see probePort).
import type { Bind } from '#api/ir/types.gen.ts'
import { probePort, StartError } from '../socket/start-error.ts'

/** Why one of the ports of `binds` cannot be opened; those of `open` are not looked at. undefined: all can be. */
export async function busyPort(
  binds: readonly Bind[],
  open: readonly Bind[] | undefined,
  host: string,
): Promise<string | undefined> {
  const known = new Set(open?.filter(isStandard).map(({ port }) => port))
  for (const bind of binds) {
    if (!isStandard(bind) || known.has(bind.port)) continue
    try {
      await probePort({ what: `listener (bind ${bind.key})`, host, port: bind.port })
    } catch (error) {
      if (error instanceof StartError) return error.message
      throw error
    }
  }
  return undefined
}

function isStandard({ mode }: Bind): boolean {
  return mode !== 'Internal'
}
