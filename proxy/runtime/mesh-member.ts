// Loads the part for meshes when the settings name one: its gRPC client costs memory that other proxies can save.
import type { Logger } from '../log/logger.ts'
import type { MeshMember } from '../mesh/mesh-member.ts'
import type { MeshSettings } from '../mesh/settings.ts'

/** undefined: the proxy is not part of a mesh. `changed`: its certificate is another one, or has ended. */
export async function meshMember(
  settings: MeshSettings | undefined,
  logger: Logger,
  changed: () => void,
): Promise<MeshMember | undefined> {
  if (settings === undefined) return undefined
  const part = await import('../mesh/mesh-member.ts')
  return new part.MeshMember(settings, { logger, changed })
}
