// The manual page gw(1): the help of every command, in the format of man. Pure.
import type { Command } from 'commander'
import { VERSION } from '#api/version.ts'

const COLUMNS = 78

const ENVIRONMENT = [
  ['KUBECONFIG', 'kubeconfig of the commands that connect to a cluster; default ~/.kube/config'],
  ['GW_ADMIN_TOKEN', 'token of the admin server of a proxy; default the one that the proxy wrote'],
  ['GW_MCP_TOKEN, GW_MCP_CLIENT_SECRET', 'access token, and secret of the client, for gw mcp check'],
  ['NO_COLOR', 'no colours, as with --no-color'],
  ['GW_LOG, GW_ADMIN_ADDR and others', 'settings of gw run; docs/environment.md lists them'],
] as const

/** With a newline at the end. */
export function manPage(program: Command): string {
  const commands = commandsOf(program, 'gw').toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [
    `.TH GW 1 "" "gw ${VERSION}" "Gw"`,
    '.SH NAME',
    `gw \\- ${escaped(program.description())}`,
    '.SH SYNOPSIS',
    '.nf',
    ...commands.map(([name, command]) => escaped(`${name} ${command.usage()}`)),
    '.fi',
    ...commands.flatMap(([name, command]) => [
      `.SH ${escaped(name.toUpperCase())}`,
      '.nf',
      ...helpOf(command).map(escaped),
      '.fi',
    ]),
    '.SH EXIT STATUS',
    '0 on success, 1 otherwise. \\fBgw mcp check\\fR exits with 2 if the server cannot be reached.',
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, meaning]) => ['.TP', `.B ${escaped(name)}`, escaped(meaning)]),
    '',
  ].join('\n')
}

/** Commands and their groups, with their full names. */
function commandsOf(command: Command, name: string): [string, Command][] {
  const own = command.createHelp().visibleCommands(command)
  const children = own.filter((child) => child.name() !== 'help')
  return children.flatMap((child): [string, Command][] => {
    const full = `${name} ${child.name()}`
    return [[full, child], ...commandsOf(child, full)]
  })
}

/** Description, flags and examples. */
function helpOf(command: Command): string[] {
  let text = ''
  const writeOut = (part: string): void => {
    text += part
  }
  command.configureOutput({ writeOut, getOutHelpWidth: () => COLUMNS, getOutHasColors: () => false }).outputHelp()
  return text.trimEnd().split('\n')
}

/** Backslashes, hyphens of flags, and requests at the start of a line. */
function escaped(line: string): string {
  return line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&')
}
