import { useContext, useMemo } from 'preact/hooks'
import { importTypes } from 'tillbridge/import-types'
import { Role, reaches } from '../../lib/role.js'

/** Returns the import types that the signed-in account may import, with the columns it may set. */
export function useImportTypes() {
  const role = useContext(Role)
  return useMemo(() => {
    const open = Object.entries(importTypes).filter(([, type]) => reaches(role, type.role))
    return Object.fromEntries(
      open.map(([name, type]) => {
        const columns = type.columns.filter(column => !column.role || reaches(role, column.role))
        return [name, Object.assign({}, type, { columns })]
      }),
    )
  }, [role])
}
