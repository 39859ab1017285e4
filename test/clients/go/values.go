package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// dateTimeLayout has the seven digits of canonical texts.
const dateTimeLayout = "2006-01-02T15:04:05.0000000Z"

type value struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Text   string `json:"text"`
	Repeat []any  `json:"repeat"`
}

func (v value) text() string {
	if v.Repeat == nil {
		return v.Text
	}
	return strings.Repeat(v.Repeat[0].(string), int(v.Repeat[1].(float64)))
}

func writeValues(s *session, tableName, client string) {
	var values []value
	check(json.Unmarshal(must(os.ReadFile(s.values)), &values))
	table := s.service.NewClient(tableName)
	for _, value := range values {
		must(table.AddEntity(ctx, entity(client, value.Name, propertiesOf(value.Type, value.text())), nil))
		printLine(struct {
			Wrote string `json:"wrote"`
		}{value.Name})
	}
}

func propertiesOf(edmType, text string) properties {
	switch edmType {
	case "Edm.Boolean":
		return properties{"Value": must(strconv.ParseBool(text))}
	case "Edm.Int32":
		return properties{"Value": int32(must(strconv.ParseInt(text, 10, 32)))}
	case "Edm.Int64":
		return properties{"Value": aztables.EDMInt64(must(strconv.ParseInt(text, 10, 64)))}
	case "Edm.Double":
		// Without its type a whole number would be stored as Edm.Int32; those that are no numbers are texts in JSON.
		return properties{"Value": doubleInJSON(text), "Value@odata.type": edmType}
	case "Edm.String":
		return properties{"Value": text}
	case "Edm.Guid":
		return properties{"Value": aztables.EDMGUID(text)}
	case "Edm.DateTime":
		return properties{"Value": aztables.EDMDateTime(must(time.Parse(dateTimeLayout, text)))}
	case "Edm.Binary":
		return properties{"Value": aztables.EDMBinary(must(hex.DecodeString(text)))}
	default:
		panic(fmt.Errorf("not a type: %s", edmType))
	}
}

func doubleInJSON(text string) any {
	switch text {
	case "NaN":
		return text
	case "INF":
		return "Infinity"
	case "-INF":
		return "-Infinity"
	default:
		return must(strconv.ParseFloat(text, 64))
	}
}

func readValues(s *session, tableName, writer string) {
	options := &aztables.ListEntitiesOptions{Filter: to.Ptr(fmt.Sprintf("PartitionKey eq '%s'", quoted(writer)))}
	for pager := s.service.NewClient(tableName).NewListEntitiesPager(options); pager.More(); {
		for _, text := range rawPage(pager) {
			found := decode(text)
			edmType, canonical := present(found.Properties["Value"], text)
			printLine(struct {
				Read string `json:"read"`
				Type string `json:"type"`
				Text string `json:"text"`
			}{found.RowKey, edmType, canonical})
		}
	}
}

// rawPage reads a page as the service wrote it. The entities of the page itself went through float64 and lost
// the point that tells 1.0 from 1.
func rawPage(pager *runtime.Pager[aztables.ListEntitiesResponse]) []json.RawMessage {
	var captured *http.Response
	must(pager.NextPage(policy.WithCaptureResponse(ctx, &captured)))
	var page struct {
		Value []json.RawMessage `json:"value"`
	}
	check(json.Unmarshal(must(runtime.Payload(captured)), &page))
	return page.Value
}

func present(v any, raw []byte) (edmType, text string) {
	switch v := v.(type) {
	case bool:
		return "Edm.Boolean", strconv.FormatBool(v)
	case int32:
		return "Edm.Int32", strconv.FormatInt(int64(v), 10)
	case aztables.EDMInt64:
		return "Edm.Int64", strconv.FormatInt(int64(v), 10)
	case float64:
		return "Edm.Double", strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return "Edm.String", v
	case aztables.EDMGUID:
		return "Edm.Guid", string(v)
	case aztables.EDMDateTime:
		return "Edm.DateTime", time.Time(v).UTC().Format(dateTimeLayout)
	case aztables.EDMBinary:
		return "Edm.Binary", hex.EncodeToString(v)
	case nil:
		// EDMEntity leaves out doubles that are no numbers.
		return annotated(raw)
	default:
		panic(fmt.Errorf("not a type of aztables: %T", v))
	}
}

func annotated(raw []byte) (edmType, text string) {
	var property struct {
		Value string
		Type  string `json:"Value@odata.type"`
	}
	check(json.Unmarshal(raw, &property))
	return property.Type, map[string]string{"NaN": "NaN", "Infinity": "INF", "-Infinity": "-INF"}[property.Value]
}
