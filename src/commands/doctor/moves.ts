import type { Db } from '../../database/db.ts'
import { listMoves, type Move } from '../../store/moves/moves.ts'

/** Moves of services between databases. Throws where there is one that nobody is at any more. */
export async function moves(control: Db): Promise<string> {
  const found = await listMoves(control)
  if (!found.length) return 'none is under way'
  const lines = found.map(({ isDead, silentSeconds, ...move }) =>
    isDead
      ? `${words(move)}, and nobody has been at it for ${Math.floor(silentSeconds)} s: a worker ends it, or tillbridge service move ${move.name} --undo, which says what it waits for`
      : `${words(move)}, and is under way`,
  )
  if (found.some(({ isDead }) => isDead)) throw new Error(lines.join('\n'))
  return lines.join('\n')
}

const words = ({ name, source, target, state }: Move) =>
  `${name} moves from ${source ?? 'the control database'} to ${target}${state === 'switched' ? ', where it is served already' : ''}`
