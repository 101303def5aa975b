import { useContext, useMemo } from 'preact/hooks'
import { importTypes } from 'tillbridge/import-types'
import { includesRole, RoleContext } from '../../lib/role.js'

/** Returns the import types that the signed-in account may import, with the columns it may set. */
export function useImportTypes() {
  const role = useContext(RoleContext)
  return useMemo(() => {
    const open = Object.entries(importTypes).filter(([, type]) => includesRole(role, type.role))
    return Object.fromEntries(
      open.map(([name, type]) => {
        const columns = type.columns.filter(column => !column.role || includesRole(role, column.role))
        return [name, Object.assign({}, type, { columns })]
      }),
    )
  }, [role])
}
