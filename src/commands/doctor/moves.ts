import type { Db } from '../../database/db.ts'
import { listMoves, type Move } from '../../store/moves/moves.ts'

/** Lists moves of services between shards. Throws if one is abandoned. */
export async function moves(control: Db): Promise<string> {
  const found = await listMoves(control)
  if (!found.length) return 'no service is being moved'
  const lines = found.map(({ isDead, silentSeconds, ...move }) =>
    isDead
      ? `${words(move)}, interrupted ${Math.floor(silentSeconds)} s ago. A worker will resolve it. To do it now: tillbridge service move ${move.name} --undo`
      : `${words(move)}, in progress`,
  )
  if (found.some(({ isDead }) => isDead)) throw new Error(lines.join('\n'))
  return lines.join('\n')
}

const words = ({ name, source, target, state }: Move) =>
  `${name} moves from ${source ?? 'the control database'} to ${target}${state === 'switched' ? ' (already served there)' : ''}`
