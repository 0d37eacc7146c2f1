// Keeps compiled code in files for the next start, with the compile cache of Node. It is only an optimization: where no
// folder can be used, or NODE_DISABLE_COMPILE_CACHE is set, every start compiles the code again.
import { constants, enableCompileCache, getCompileCacheDir } from 'node:module'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { VERSION } from './version.ts'

const FOLDER = 'NODE_COMPILE_CACHE'

/**
 * For the modules that the calling thread loads from now on. The folder is NODE_COMPILE_CACHE, else `beside`, else
 * `gw/VERSION` in the user's cache folder. Node makes a folder in it for each version of Node, architecture, set of
 * V8 flags and processor features, and user. Where `beside` cannot be written, it is used if it has this folder.
 * Returns the folder that Node made, undefined if it made none.
 */
export function keepCompiledCode(beside: string, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  // Node itself has enabled it.
  if (environment[FOLDER] !== undefined) return getCompileCacheDir()
  for (const directory of [beside, ...userFolder(environment)]) {
    // Portable: keys of files are relative to the folder, so that an image can contain what its build wrote elsewhere.
    const { status } = enableCompileCache({ directory, portable: true })
    if (status !== constants.compileCacheStatus.FAILED) return getCompileCacheDir()
  }
  return undefined
}

/** Variables with which a new thread uses the same folder: a thread does not inherit the setting itself. */
export function compiledCodeVariables(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const directory = getCompileCacheDir()
  if (directory === undefined || environment[FOLDER] !== undefined) return {}
  return { [FOLDER]: dirname(directory), NODE_COMPILE_CACHE_PORTABLE: '1' }
}

function userFolder({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string[] {
  const home = HOME ?? homedir()
  const base = XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(home, '.cache')
  return isAbsolute(base) ? [join(base, 'gw', VERSION)] : []
}
