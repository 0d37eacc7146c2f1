// kubectl for tests without their own cluster: GW_KUBECTL, PATH, or the programs of the test cluster.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

export function findKubectl(): string | undefined {
  const cache = process.env['GW_CLUSTER_CACHE'] ?? join(homedir(), '.cache/gw-cluster')
  const places = [
    process.env['GW_KUBECTL'] ?? '',
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'kubectl')),
    join(cache, 'bin/kubectl'),
  ]
  return places.find((place) => place !== '' && existsSync(place) && isClient(place))
}

function isClient(program: string): boolean {
  try {
    return execFileSync(program, ['version', '--client'], { encoding: 'utf8' }).includes('Client Version')
  } catch {
    // This kubectl does not run here.
    return false
  }
}
