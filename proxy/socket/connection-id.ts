// Numbers of connections. Each worker has one sequence for the connections of all protocols.
let connectionIds = 0

export function nextConnectionId(): number {
  return ++connectionIds
}

/**
 * Number of connections that this worker has accepted so far; shows whether a connection came and went between two
 * checks.
 */
export function connectionsMade(): number {
  return connectionIds
}
