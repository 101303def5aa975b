// Made of the operations of the API by `npm run docs`.

export interface StoreMappingChange {
  /** The location in the e-commerce platform; several stores may share one. */
  ecommerceLocationId: string | null
}

export interface SkuMappingChange {
  /** The SKU in the e-commerce platform. Null: none; it goes by its `skuId` meanwhile. */
  ecommerceSku?: string | null | undefined
  /** The product in the e-commerce platform that the colour is sold as: the same for all its sizes. */
  ecommerceProductId?: string | null | undefined
}

export interface CustomerMappingChange {
  /** The customer's identifier in the e-commerce platform, admin form. */
  ecommerceAdminId?: string | null | undefined
  /** The customer's identifier in the e-commerce platform, legacy form. */
  ecommerceLegacyId?: string | null | undefined
}

export interface StoreMapping {
  /** The back office's identifier of the store. */
  storeId: string
  /** The number the retailer knows the store by; a string, zeros in front are kept. */
  storeNumber: string
  /** The name shoppers know. */
  name: string
  /** The location in the e-commerce platform; several stores may share one. */
  ecommerceLocationId: string | null
}

export interface SkuMapping {
  /** The back office's own identifier of the colour/size. */
  skuId: string
  /** The product. */
  productId: string
  /** The style code. */
  productCode: string
  /** The code of the colour. */
  colourCode: string | null
  /** The size. */
  sizeCode: string
  /** The SKU in the e-commerce platform. Null: none; it goes by its `skuId` meanwhile. */
  ecommerceSku: string | null
  /** The product in the e-commerce platform that the colour is sold as: the same for all its sizes. */
  ecommerceProductId: string | null
}

export interface CustomerMapping {
  /** The back office's identifier of the customer. */
  customerId: string
  /** E-mail address; unique in the service, whatever its case. */
  email: string | null
  /** The identifier in its admin form. */
  ecommerceAdminId: string | null
  /** The identifier in its legacy form. */
  ecommerceLegacyId: string | null
}
