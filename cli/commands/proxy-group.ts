// gw proxy: the group of commands that inspect a running proxy, and their common flags.
import type { Command } from 'commander'

export function proxyGroup(program: Command): Command {
  const known = program.commands.find((command) => command.name() === 'proxy')
  return known ?? program.command('proxy').description('Inspect a running proxy')
}

export function addTargetFlags(command: Command): Command {
  return command
    .option('--local', 'Connect to a proxy on this machine')
    .option('--admin-addr <host:port>', 'Address of its admin server', 'localhost:15000')
}
