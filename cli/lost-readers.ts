// What becomes of a command whose output nobody reads any more.

/** Of commands that print: who has seen enough, as `head`, closes the pipe, and all is done. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    throw error
  })
}

/** Of those that serve as well: nobody is left to tell, and traffic goes on. Their log has a writer of its own. */
export function outliveReader(): void {
  process.stderr.on('error', () => undefined)
}
