// Completion of paths for `-f`, and of names of the cluster: the library completes neither.
import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { RootCommand } from '@bomb.sh/tab'
import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import { isSourceName } from './manifests/files.ts'

const FILE_COMMANDS = ['run', 'validate', 'translate']
const CLUSTER_COMMANDS = /^(?:proxy (?:config|c|cfg|log|trace|profile)|explain|ui) /
/** About as many as fit on a screen. */
const CANDIDATES_MAX = 200

/** After all other commands: it completes those that are there. `argv`: of the process. */
export async function addCompletion(program: Command, argv: readonly string[]): Promise<void> {
  const root = tab(program, { completionCommandName: 'completion' })
  completePaths(root)
  // The library calls its handlers while it reads the arguments, so the names must be there before.
  if (argv[2] === 'complete' && takesNames(argv.slice(4))) {
    const { clusterNames } = await import('./cluster-names.ts')
    completeNames(root, await clusterNames(argv.slice(4)))
  }
}

/** Whether the last of the words after `gw` can be a name of a cluster. */
function takesNames(words: readonly string[]): boolean {
  const isFlag = words.at(-1)?.startsWith('-') === true
  return CLUSTER_COMMANDS.test(words.join(' ')) && !isFlag && !words.includes('--local')
}

/** Of Gateways, namespaces and others. */
function completeNames(root: RootCommand, names: readonly string[]): void {
  const all = (complete: (value: string, description: string) => void): void => {
    for (const name of names.slice(0, CANDIDATES_MAX)) complete(name, '')
  }
  for (const { options, arguments: places } of root.commands.values()) {
    for (const option of [options.get('namespace'), options.get('context')])
      if (option !== undefined) option.handler = all
    for (const place of [places.get('resource'), places.get('arguments')]) if (place !== undefined) place.handler = all
  }
}

function completePaths(root: RootCommand): void {
  for (const name of FILE_COMMANDS) {
    const option = root.commands.get(name)?.options.get('file')
    if (option === undefined) continue
    option.handler = (complete) => {
      for (const path of pathsLike(process.argv.at(-1) ?? '')) complete(path, '')
    }
  }
}

/** Folders and manifests whose path begins with the text, written as the shell would write them. */
function pathsLike(text: string): string[] {
  const folder = text.endsWith('/') ? text : dirname(text)
  const start = text === '' || text.endsWith('/') ? '' : basename(text)
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => name.startsWith(start) && (start.startsWith('.') || !name.startsWith('.')))
      .filter((entry) => entry.isDirectory() || isSourceName(entry.name))
      .slice(0, CANDIDATES_MAX)
      .map((entry) => {
        const path = folder === '.' && !text.startsWith('./') ? entry.name : join(folder, entry.name)
        return `${text.startsWith('./') ? './' : ''}${path}${entry.isDirectory() ? '/' : ''}`
      })
  } catch {
    return []
  }
}
