import { useContext, useMemo } from 'preact/hooks'
import { kinds } from 'tillbridge/kinds'
import { Role, reaches } from '../../lib/role.js'

/** The kinds of rows with their columns, as far as whoever is signed in may import them. */
export function useKinds() {
  const role = useContext(Role)
  return useMemo(() => {
    const open = Object.entries(kinds).filter(([, kind]) => reaches(role, kind.role))
    return Object.fromEntries(
      open.map(([name, kind]) => {
        const columns = kind.columns.filter(column => !column.role || reaches(role, column.role))
        return [name, Object.assign({}, kind, { columns })]
      }),
    )
  }, [role])
}
