// What becomes of a command whose output nobody reads any more.

/** Of commands that print: who has seen enough, as `head`, closes the pipe, and all is done. Safe to repeat. */
export function endWithReader(): void {
  process.stdout.off('error', endOnClosedPipe).on('error', endOnClosedPipe)
}

function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit()
  throw error
}

/** Of those that serve as well: nobody is left to tell, and traffic goes on. Their log has a writer of its own. */
export function outliveReader(): void {
  process.stderr.on('error', () => undefined)
}
