// The environment of the rounds of the benchmark.
import type { RealApiServer } from '../../test/cluster/real-apiserver.ts'
import type { Address } from './cluster.ts'
import type { Program } from './programs.ts'
import type { Client } from './traffic.ts'

export interface BenchEnvironment {
  readonly server: RealApiServer
  readonly client: Client
  readonly operator: Program
  readonly serving: Program
  readonly upstreams: readonly [Address, Address]
}
