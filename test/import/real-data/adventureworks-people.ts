import type { Static } from 'typebox'
import type { ReferenceRow } from '../../../src/domain/catalog/references.ts'
import type { StaffRow } from '../../../src/domain/catalog/staff.ts'
import type { StoreMappingRow, StoreRow } from '../../../src/domain/catalog/stores.ts'
import type { CustomerMappingRow, CustomerRow } from '../../../src/domain/customers/customers.ts'
import { type FileWriter, type Folders, openFile, readSource } from './csv.ts'
import { storeShares } from './magento.ts'

const mainOffice = '3'
const asciiOnly = /^\p{ASCII}*$/u

/** Converts the stores with the addresses of their main offices. The first few have stock and are mapped to locations. */
export async function convertStores(folders: Folders) {
  const regions = new Map<string, string>()
  for await (const row of readSource(folders, 'adventureworks/CountryRegion.csv', ['CountryRegionCode', 'Name']))
    regions.set(row.CountryRegionCode, row.Name)
  const states = new Map<string, { state: string; country: string }>()
  const stateColumns = ['StateProvinceID', 'CountryRegionCode', 'Name'] as const
  for await (const row of readSource(folders, 'adventureworks/StateProvince.csv', stateColumns))
    states.set(row.StateProvinceID, { state: row.Name, country: regions.get(row.CountryRegionCode) ?? '' })

  const names = new Map<string, string>()
  for await (const row of readSource(folders, 'adventureworks/Store.csv', ['BusinessEntityID', 'Name']))
    names.set(row.BusinessEntityID, row.Name)
  const storeByAddress = new Map<string, string>()
  let furtherAddresses = 0
  const links = ['BusinessEntityID', 'AddressID', 'AddressTypeID'] as const
  for await (const row of readSource(folders, 'adventureworks/BusinessEntityAddress.csv', links)) {
    if (!names.has(row.BusinessEntityID)) continue
    if (row.AddressTypeID === mainOffice) storeByAddress.set(row.AddressID, row.BusinessEntityID)
    else furtherAddresses++
  }
  const addresses = new Map<string, Partial<Static<typeof StoreRow>>>()
  let addressesBeyondAscii = 0
  const addressColumns = ['AddressID', 'AddressLine1', 'AddressLine2', 'City', 'StateProvinceID', 'PostalCode'] as const
  for await (const row of readSource(folders, 'adventureworks/Address.csv', addressColumns)) {
    if (!asciiOnly.test(row.AddressLine1 + row.AddressLine2 + row.City + row.PostalCode)) addressesBeyondAscii++
    const store = storeByAddress.get(row.AddressID)
    if (!store) continue
    addresses.set(store, {
      addressLine1: row.AddressLine1,
      addressLine2: row.AddressLine2,
      city: row.City,
      postcode: row.PostalCode,
      ...states.get(row.StateProvinceID),
    })
  }

  const file = openFile<Static<typeof StoreRow>>(folders, 'stores.csv', 'stores', [
    'storeId',
    'storeNumber',
    'name',
    'addressLine1',
    'addressLine2',
    'city',
    'state',
    'postcode',
    'country',
    'inventoryBuffer',
  ])
  const mapping = openFile<Static<typeof StoreMappingRow>>(folders, 'store-mapping.csv', 'store-mapping', [
    'storeId',
    'ecommerceLocationId',
  ])
  const stockedStores: string[] = []
  for (const [key, name] of names) {
    const storeId = `AW-${key}`
    const storeNumber = key.padStart(4, '0')
    const buffer = stockedStores.length === 2 ? { inventoryBuffer: 4 } : {}
    await file.write({ storeId, storeNumber, name, ...addresses.get(key), ...buffer })
    if (stockedStores.length === storeShares.length) continue
    stockedStores.push(storeNumber)
    // The last two stores share a location.
    await mapping.write({ storeId, ecommerceLocationId: `${68_848_000_000 + Math.min(stockedStores.length, 4)}` })
  }
  return {
    files: [await file.close(), await mapping.close()],
    stockedStores,
    stores: names.size,
    counts: { storesWithAddress: addresses.size, furtherAddresses, addressesBeyondAscii },
  }
}

/** Converts the staff. The data has no names, so the surname is the sign-in name. */
export async function convertStaff(folders: Folders) {
  const emails = new Map<string, string>()
  for await (const row of readSource(folders, 'adventureworks/EmailAddress.csv', ['BusinessEntityID', 'EmailAddress']))
    emails.set(row.BusinessEntityID, row.EmailAddress)
  const file = openFile<Static<typeof StaffRow>>(folders, 'staff.csv', 'staff', [
    'id',
    'code',
    'surname',
    'email',
    'active',
  ])
  let staffWithEmail = 0
  const codes = new Set<string>()
  const columns = ['BusinessEntityID', 'LoginID', 'CurrentFlag'] as const
  for await (const row of readSource(folders, 'adventureworks/Employee.csv', columns)) {
    const code = row.LoginID.slice(row.LoginID.lastIndexOf('\\') + 1)
    const email = emails.get(row.BusinessEntityID)
    if (email) staffWithEmail++
    codes.add(code)
    await file.write({
      id: `AW-${row.BusinessEntityID}`,
      code,
      surname: code,
      ...(email && { email }),
      active: row.CurrentFlag === '1',
    })
  }
  return { files: [await file.close()], counts: { staffWithEmail, staffCodes: codes.size } }
}

/** Converts the customers. The data has no shop accounts, so the e-commerce identifiers are derived from the keys. */
export async function convertCustomers(folders: Folders, references: FileWriter<Static<typeof ReferenceRow>>) {
  const file = openFile<Static<typeof CustomerRow>>(folders, 'customers-adventureworks.csv', 'customers', [
    'id',
    'code',
    'title',
    'firstname',
    'surname',
    'dateOfBirth',
    'email',
    'references',
  ])
  const mapping = openFile<Static<typeof CustomerMappingRow>>(folders, 'customer-mapping.csv', 'customer-mapping', [
    'customerId',
    'ecommerceAdminId',
    'ecommerceLegacyId',
  ])
  const values = new Map<string, string>()
  const findOrWriteReference = async (type: string, name: string) => {
    const existing = values.get(`${type} ${name}`)
    if (existing) return existing
    const referenceValueId = `AW-${type}-${values.size + 1}`
    values.set(`${type} ${name}`, referenceValueId)
    await references.write({ type, referenceValueId, name })
    return referenceValueId
  }
  const emails = new Set<string>()
  const counts = { customers: 0, namesBeyondAscii: 0, emailsBeyondAscii: 0, withoutTitle: 0, emailsTwice: 0 }
  const columns = [
    'CustomerKey',
    'Prefix',
    'FirstName',
    'LastName',
    'BirthDate',
    'EmailAddress',
    'EducationLevel',
    'Occupation',
  ] as const
  for await (const row of readSource(folders, 'adventureworks/customers.csv', columns)) {
    const id = `AW-${row.CustomerKey}`
    const occupation = await findOrWriteReference('occupation', row.Occupation)
    const education = await findOrWriteReference('education', row.EducationLevel)
    await file.write({
      id,
      code: row.CustomerKey,
      title: row.Prefix,
      firstname: row.FirstName,
      surname: row.LastName,
      dateOfBirth: row.BirthDate,
      email: row.EmailAddress,
      references: `occupation=${occupation};education=${education}`,
    })
    const legacyId = `${6_470_000_000_000 + Number(row.CustomerKey)}`
    await mapping.write({
      customerId: id,
      ecommerceAdminId: `gid://shop/Customer/${legacyId}`,
      ecommerceLegacyId: legacyId,
    })
    counts.customers++
    if (!row.Prefix) counts.withoutTitle++
    if (!asciiOnly.test(row.FirstName + row.LastName)) counts.namesBeyondAscii++
    if (!asciiOnly.test(row.EmailAddress)) counts.emailsBeyondAscii++
    const email = row.EmailAddress.toLowerCase()
    if (emails.has(email)) counts.emailsTwice++
    emails.add(email)
  }
  return { files: [await file.close(), await mapping.close()], counts }
}
