// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface StoreMappingChange {
  /** The location in the e-commerce platform; several stores may share one. */
  ecommerceLocationId?: string | null | undefined
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

export interface MappingFixInput {
  /** What is mapped. */
  kind: 'stores' | 'skus' | 'customers'
  /** The back office's identifier of the store, the SKU or the customer. */
  id: string
  /** What it is mapped to now, as the finding said (`ecommerceId`; null: nothing). Where it is not any more, nothing is changed. Left out: whatever it is. */
  from?: string | null | undefined
  /** What it is mapped to from now on; null: nothing. */
  to: string | null
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

export interface MappingHealth {
  /** What is mapped. */
  kind: Open<'stores' | 'skus' | 'customers'>
  /** When all of them were last judged; null: not yet. */
  judgedAt: string | null
  /** When a file of the e-commerce platform last came; null: none has. */
  listedAt: string | null
  /** How much the e-commerce platform has, by that file. */
  listed: number
  /** Whether they are being judged, or are about to be. */
  isJudging: boolean
  progress: JudgementProgress | null
  states: FindingCounts
}

/** How far a judgement has come, in records here and there; null: none is under way. */
export interface JudgementProgress {
  /** Looked at until now. */
  done: number
  /** What there is. */
  of: number
}

export interface FindingCounts {
  /** Mapped to one thing that is there. */
  matched: number
  /** Not mapped, and nothing there is like it. */
  missing: number
  /** Things of the e-commerce platform that nothing here is mapped to. */
  unclaimed: number
  /** Two here are mapped to one there, or what is there exists twice. */
  twice: number
  /** Mapped to something that is not there any more. */
  orphan: number
  /** Not mapped to anything there, and something there is almost the same. */
  nearMiss: number
  /** Mapped, while no file has told what is there. */
  unchecked: number
}

export interface MappingFinding {
  /** The back office's identifier of the store, the SKU or the customer. */
  id: string | null
  /** What it is, here. */
  name: string | null
  /** How it stands. */
  state: Open<'missing' | 'unclaimed' | 'twice' | 'orphan' | 'nearMiss' | 'matched' | 'unchecked'>
  /** What it is mapped to; where it is `unclaimed`, what it is there. */
  ecommerceId: string | null
  /** Of a customer: the identifier in its admin form, where that is said. */
  ecommerceAdminId: string | null
  /** What it probably is there. */
  suggestion: string | null
  /** What is suggested, or else what it is mapped to, is called there. */
  ecommerceName: string | null
  /** Why it is in its state, the best reason first. */
  evidence: MappingEvidence[]
  /** Units in all stores, of a store those of all SKUs; null: it has no stock. */
  unitsInStock: number | null
  /** Units that were sold in the last 90 days, less what came back. */
  unitsSold: number | null
}

export interface MappingEvidence {
  /** `same`, `case`, `blanks`, `leadingZeros` and `form` say in what an identifier there is almost one here, `barcode`, `name` and `email` what is the same there. `shared`: another record here (`id`) is mapped to it; `double`: it exists twice there; `clash`: the two forms of a customer name two. */
  why: Open<'barcode' | 'same' | 'case' | 'blanks' | 'leadingZeros' | 'form' | 'name' | 'email' | 'shared' | 'double' | 'clash'>
  /** What it is about, there. */
  ecommerceId: string | null
  /** What it is about, here. */
  id: string | null
}

export interface MappingFix {
  /** The identifier of the fix. */
  fixId: string
  /** What is mapped. */
  kind: Open<'stores' | 'skus' | 'customers'>
  /** The back office's identifier of the store, the SKU or the customer. */
  id: string
  /** The mapping as it was. */
  before: Record<string, string | null>
  /** The mapping as it became. */
  after: Record<string, string | null>
  /** The account that made it. */
  username: string
  /** The request that made it. */
  requestId: string
  /** When it was made. */
  fixedAt: string
  /** When it was undone; null: it was not. */
  undoneAt: string | null
}
