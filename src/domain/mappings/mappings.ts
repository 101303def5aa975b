import { Type } from '../../schemas/schemas.ts'
import { SkuMappingRow } from '../catalog/products.ts'
import { Store } from '../catalog/stores.ts'
import { Customer } from '../customers/customers.ts'
import { ecommerceIds } from '../customers/input.ts'
import { Id, Nullable, Text } from '../values/fields.ts'

export const mappingStates = ['mapped', 'unmapped'] as const
export type MappingState = (typeof mappingStates)[number]

const { storeId, storeNumber, name } = Store.properties
const { skuId } = SkuMappingRow.properties
const { id: customerId, contact } = Customer.properties

const ecommerceLocationId = Nullable(
  Id('The location in the e-commerce platform. Several stores can share one.', '6884556842'),
)
const ecommerceSku = Nullable(
  Id('The SKU in the e-commerce platform. Null: not mapped, so the `skuId` is used.', 'MH01-XS-Black'),
)
const ecommerceProductId = Nullable(
  Id('The product in the e-commerce platform. All sizes of a colour share it.', '1234567890'),
)

export const StoreMapping = Type.Object(
  { storeId, storeNumber, name, ecommerceLocationId },
  { $id: 'StoreMapping', additionalProperties: false },
)

/** The mapping of a SKU as clients read it. A row of an import is a `SkuMappingRow`. */
export const SkuMapping = Type.Object(
  {
    skuId,
    productId: Id('The product.', '5001'),
    productCode: Id('The style code.', 'MH01'),
    colourCode: Nullable(Text('The code of the colour.', 'BLK', 50)),
    sizeCode: Text('The size.', 'XS', 50),
    ecommerceSku,
    ecommerceProductId,
  },
  { $id: 'SkuMapping', additionalProperties: false },
)

export const CustomerMapping = Type.Object(
  {
    customerId,
    email: contact.properties.email,
    ecommerceAdminId: Nullable(Text('The customer identifier in its admin form.', 'gid://shop/Customer/6477890125896')),
    ecommerceLegacyId: Nullable(Text('The customer identifier in its legacy form.', '6477890125896')),
  },
  { $id: 'CustomerMapping', additionalProperties: false },
)

/** The bodies of changes. An absent field is unchanged, and null removes the mapping. */
export const StoreMappingChange = Type.Object(
  { ecommerceLocationId: Type.Optional(ecommerceLocationId) },
  { $id: 'StoreMappingChange', additionalProperties: false },
)

export const SkuMappingChange = Type.Object(
  { ecommerceSku: Type.Optional(ecommerceSku), ecommerceProductId: Type.Optional(ecommerceProductId) },
  { $id: 'SkuMappingChange', additionalProperties: false },
)

export const CustomerMappingChange = Type.Object(ecommerceIds, {
  $id: 'CustomerMappingChange',
  additionalProperties: false,
})
