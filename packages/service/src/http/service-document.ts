/** The two documents that describe the service. No client asks for them; they are short. */
import { jsonString } from '../model/json-text.ts'
import { contentTypeOf, levelOf, type MetadataLevel } from './format.ts'
import type { ServiceRoute } from './route.ts'
import type { Steps } from './steps.ts'

export const serviceDocumentSteps: Steps<ServiceRoute, MetadataLevel, MetadataLevel> = {
  writes: false,
  preferences: [],
  decode: ({ format }) => levelOf(format),
  execute: async (level) => level,
  encode(level, { target }) {
    const context =
      level === 'nometadata' ? '' : `"odata.metadata":${jsonString(`${target.base}/$metadata`)},`
    return {
      status: 200,
      noCache: true,
      contentType: contentTypeOf(level),
      body: `{${context}"value":[{"name":"Tables","url":"Tables"}]}`,
    }
  },
}

export const metadataSteps: Steps<ServiceRoute, void, void> = {
  writes: false,
  preferences: [],
  decode: () => undefined,
  execute: async () => undefined,
  encode: (_nothing, { account }) => ({
    status: 200,
    noCache: true,
    contentType: 'application/xml;charset=utf-8',
    body:
      '<?xml version="1.0" encoding="utf-8"?>' +
      '<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">' +
      '<edmx:DataServices m:DataServiceVersion="3.0" m:MaxDataServiceVersion="3.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">' +
      `<Schema Namespace="${account}" xmlns="http://schemas.microsoft.com/ado/2009/11/edm">` +
      '<EntityType Name="Tables"><Key><PropertyRef Name="TableName" /></Key>' +
      '<Property Name="TableName" Type="Edm.String" Nullable="false" /></EntityType>' +
      `<EntityContainer Name="${account}" m:IsDefaultEntityContainer="true">` +
      `<EntitySet Name="Tables" EntityType="${account}.Tables" /></EntityContainer>` +
      '</Schema></edmx:DataServices></edmx:Edmx>',
  }),
}
