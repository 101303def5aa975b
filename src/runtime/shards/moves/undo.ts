import { type MoveDatabases, requireOwnership, undoMove } from '../../../store/moves/finish.ts'
import { type Move, readMoveState } from '../../../store/moves/moves.ts'

/**
 * Undoes a failed move and throws its error. Returns normally if the service was switched nevertheless: the failure came later, or the
 * connection broke during the commit of the switch.
 */
export async function undoFailedMove(databases: MoveDatabases, move: Move, error: Error, signal: AbortSignal) {
  const { name, target } = move
  const state = await readMoveState(databases.control, move).catch(stateError => {
    throw addToMessage(
      error,
      `It is unknown if ${name} is served from ${target}: ${stateError.message} The remaining steps ${describeRemedy(move)}`,
    )
  })
  if (state === 'switched') return
  await requireOwnership(databases.control, move).catch(ownershipError => {
    throw addToMessage(error, ownershipError.message)
  })
  await undoMove(databases, move, signal).catch(undoError => {
    throw addToMessage(
      error,
      `${name} is still served from the source. The rows in ${target} are deleted once ${target} is available: ${undoError.message}`,
    )
  })
  throw addToMessage(error, `The move was undone. ${name} is still served from the source.`)
}

/** Returns an error whose message continues with the resulting state. */
export const addToMessage = (cause: Error, state: string) => new Error(`${cause.message} ${state}`, { cause })
export const describeRemedy = ({ name }: Move) =>
  `are done by a worker, or by "tillbridge service move ${name} --undo".`
