// gw proxy profile: flags and help. The command itself is in cli/proxy, loaded when it runs.
import { type Command, InvalidArgumentError } from 'commander'
import { CPU_SECONDS } from '#api/profile/pprof-request.ts'
import type { ProfileFlags, ProfileKind } from '../proxy/profile.ts'
import { addTargetFlags, proxyGroup, RESOURCE_HELP } from './proxy-group.ts'

const SECONDS = 30
const HELP = `
Writes a profile in the pprof format, and prints the name of the file.

Examples:
  # The processor time of a proxy in a cluster for 30 seconds
  gw proxy profile cpu gateway/web -n shop
  # The memory in use of a proxy on this machine
  gw proxy profile heap --local -o heap.pb
  go tool pprof -top heap.pb`

export function addProxyProfile(program: Command, finish: (code: number) => void): void {
  const profile = proxyGroup(program).command('profile').description('Write a CPU or heap profile of a proxy')
  profile.addHelpText('after', HELP)
  const add = (kind: ProfileKind, description: string): Command =>
    addTargetFlags(profile.command(kind).description(description).argument('[resource]', RESOURCE_HELP))
      .option('-o, --output <file>', `File to write; default gw-${kind}-YYYYMMDD-HHMMSS.pb`)
      .action(async (resource: string | undefined, flags: ProfileFlags) => {
        const { profileCommand } = await import('../proxy/profile.ts')
        finish(await profileCommand(kind, { resource, flags }))
      })
  add('cpu', 'Sample the processor time').option('--seconds <number>', 'Time of sampling', seconds, SECONDS)
  add('heap', 'Write the memory in use by place of allocation')
}

function seconds(text: string): number {
  const value = Number(text)
  const { min, max } = CPU_SECONDS
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`)
}
