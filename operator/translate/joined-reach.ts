// What each Gateway reaches directly, with what policies or backends lead to: updated with the changes of both.
import { isIdentical } from '#api/incremental/identical.ts'
import { Keyed } from './keyed.ts'
import { NO_PORTS, NOTHING_FOLLOWED, NOTHING_REACHED, type Followed, type Reach } from './reach.ts'
import { isSameInOrder, isSameSet } from './same.ts'

/** By Gateway, both together. The same objects as last time for the same. */
export function joinedReach(): (
  direct: ReadonlyMap<string, Reach>,
  followed: ReadonlyMap<string, Followed>,
) => ReadonlyMap<string, Reach> {
  const joints = new Keyed(reachJoint)
  let last: ReadonlyMap<string, Reach> = new Map()
  let inputs: readonly unknown[] = []
  return (direct, followed) => {
    if (isIdentical(inputs, [direct, followed])) return last
    inputs = [direct, followed]
    // Without policies that lead somewhere nothing is kept.
    if (followed.size === 0) {
      joints.keepOnly(followed)
      return (last = direct)
    }
    const now = new Map<string, Reach>()
    for (const [key, reach] of direct) now.set(key, joints.at(key)(reach, followed.get(key) ?? NOTHING_FOLLOWED))
    joints.keepOnly(now)
    return (last = isSameInOrder(last, now) ? last : now)
  }
}

export type ReachJoint = (reach: Reach, followed: Followed) => Reach

/** Both together: the same object as last time for the same. */
export function reachJoint(): ReachJoint {
  let last: Joint = { reach: NOTHING_REACHED, followed: NOTHING_FOLLOWED, both: NOTHING_REACHED }
  return (reach, followed) => {
    if (last.reach === reach && last.followed === followed) return last.both
    const isFirst = isEmpty(last.followed)
    // The first joint version shares what it can with the direct one.
    const from = isFirst ? { ...last, reach, both: reach } : last
    const both = isEmpty(followed) ? reach : jointAfter(from, reach, followed)
    last = { reach, followed, both }
    return both
  }
}

function isEmpty({ services, backends }: Followed): boolean {
  return services.size + backends.size === 0
}

interface Joint {
  readonly reach: Reach
  readonly followed: Followed
  readonly both: Reach
}

function jointAfter({ reach: before, followed: earlier, both }: Joint, reach: Reach, followed: Followed): Reach {
  const hosts = new Set(reach.services.since(before.services).map(([host]) => host))
  const keys = new Set(reach.backends.since(before.backends).map(([key]) => key))
  if (earlier !== followed) {
    for (const { services, backends } of [earlier, followed]) {
      for (const host of services.keys()) hosts.add(host)
      for (const key of backends) keys.add(key)
    }
  }
  const services = [...hosts].map((host) => {
    const [one, other] = [reach.services.get(host) ?? NO_PORTS, followed.services.get(host) ?? NO_PORTS]
    return [host, allPorts(one, other)] as const
  })
  const isReached = (key: string): boolean => reach.backends.get(key) === true || followed.backends.has(key)
  const backends = [...keys].map((key) => [key, isReached(key) ? true : undefined] as const)
  return reachWith(both, { services: new Map(services), backends: new Map(backends) })
}

interface ReachChange {
  /** No ports: no longer reached. */
  readonly services: ReadonlyMap<string, ReadonlySet<number>>
  readonly backends: ReadonlyMap<string, true | undefined>
}

/** The same objects where everything is as before. */
export function reachWith(reach: Reach, { services, backends }: ReachChange): Reach {
  const hosts = [...services].filter(([host, ports]) => !isSameSet(reach.services.get(host) ?? NO_PORTS, ports))
  const keys = [...backends].filter(([key, isThere]) => reach.backends.get(key) !== isThere)
  if (hosts.length + keys.length === 0) return reach
  const changed = hosts.map(([host, ports]) => [host, ports.size === 0 ? undefined : ports] as const)
  return {
    services: hosts.length === 0 ? reach.services : reach.services.with(changed),
    backends: keys.length === 0 ? reach.backends : reach.backends.with(keys),
  }
}

function allPorts(one: ReadonlySet<number>, other: ReadonlySet<number>): ReadonlySet<number> {
  if (one.size === 0) return other
  return [...other].every((port) => one.has(port)) ? one : new Set([...one, ...other])
}
