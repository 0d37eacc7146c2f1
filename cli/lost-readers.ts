// What a command does when the reader of its output closes the pipe.

/** For commands that print: a reader such as `head` closes the pipe early, and the command exits. Safe to repeat. */
export function endWithReader(): void {
  process.stdout.off('error', endOnClosedPipe).on('error', endOnClosedPipe)
}

function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit()
  throw error
}

/** For commands that serve: the output is dropped, and traffic continues. Their log has its own writer. */
export function outliveReader(): void {
  process.stderr.on('error', () => undefined)
}
