// What a command does when the reader of its output closes the pipe, or the output cannot be written.

/** For commands that print: a reader such as `head` closes the pipe early, and the command exits. Safe to repeat. */
export function endWithReader(): void {
  process.stdout.off('error', endOnClosedPipe).on('error', endOnClosedPipe)
}

function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit()
  // The rest of the output would be missing: nothing that the command does later makes it complete.
  process.stderr.write(`gw: cannot write the output: ${error.message}\n`)
  process.exit(1)
}

/** For commands that serve: the output is dropped, and traffic continues. Their log has its own writer. */
export function outliveReader(): void {
  process.stderr.on('error', () => undefined)
}
