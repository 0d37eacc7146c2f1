// Completion of paths for `-f`: the library does not complete files, so the command lists them itself.
import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { RootCommand } from '@bomb.sh/tab'
import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import { isSourceName } from './manifests/files.ts'

const FILE_COMMANDS = ['run', 'validate', 'translate']
/** About as many as fit on a screen. */
const CANDIDATES_MAX = 200

/** After all other commands: it completes those that are there. */
export function addCompletion(program: Command): void {
  completePaths(tab(program, { completionCommandName: 'completion' }))
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
